# Quoted commas, quotes and line feeds
printf 'user,item,rating\n"ann, ""the"" first","a\nb",4.5\nbob,"x,y",5\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
