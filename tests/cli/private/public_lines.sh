# A row of a public table is a line: a quote that is left open makes no field of other people's
# wishes, nor of other items
dpmf ledger init -q l
printf 'item\ni1\ni2\n' >items
printf 'user,item,rating\nu1,i1,3\nu2,i1,4\nu3,i2,5\n' >r.csv
try() {
    dpmf train -q r.csv --epsilon 1 --rating-range 1:5 --ledger l -o x.safetensors "$@"
    echo "exit $?"
}
printf 'user,note,epsilon\nu1,"moved,0\nu2,fine,0\nu3,said",0\n' >wishes
try --catalogue items --user-privacy wishes
printf 'i1,"\ni2,"\n' >broken
try --catalogue broken
printf 'item,kind\ni1,"a\ni2,b"\n' >features
try --catalogue items --item-features features
printf 'item\ni1\ni\0002\n' >binary
try --catalogue binary
printf '\377\376i\0t\0e\0m\0\n\0i\0001\0\n\0' >wide
try --catalogue wide
# nor does a carriage return
printf 'user,epsilon,note\ru1,0,x\ru2,0,y\ru3,0,z\r' >wishes
try --catalogue items --user-privacy wishes
printf 'user,note,epsilon\nu1,"x\ru2,y,0\ru3,z",0\n' >wishes
try --catalogue items --user-privacy wishes
# nor does the header of another file, whatever the order of its columns
printf 'item,title\ni1,One\ntitle,item\nTwo,i2\n' >items2
try --catalogue items2
printf 'item\ni1\nitem\ni2\n' >items2
try --catalogue items2
printf 'item,year,genre\ni1,1999,a\ngenre,item,year\nb,i2,2000\n' >features
try --catalogue items --item-features features
printf 'user,epsilon\nu1,0\nepsilon,user\n0,u2\n' >wishes
try --catalogue items --user-privacy wishes
