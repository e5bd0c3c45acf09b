# The printed command says how RATINGS is read, and nothing that is for --valid alone.
dpmf synth -q --users 60 --items 20 --ratings 900 -o r.dpr
dpmf split -q r.dpr --train a.dpr --test b.dpr
dpmf export -q a.dpr --csv a.csv
dpmf export -q b.dpr --csv b.csv
tail -n +2 a.csv >a.txt
tail -n +2 b.csv >b.txt
try() {
    dpmf tune -q "$@" --trials 1 --epochs 1 -j 1 >page
    tail -n 1 page | grep -o ' [ab]\.[a-z]*\| --columns [a-z,]*\| --events\| --user-column [a-z]*'
    eval "$(tail -n 1 page) -q" && echo trained
}
try a.txt --valid b.dpr --columns user,item,rating
try a.dpr --valid b.txt --columns user,item,rating
cut -d, -f1,2 a.txt | tr , ' ' >a.libmf
try a.libmf --events --format libmf
