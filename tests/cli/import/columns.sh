printf '4.5|x|ann|dune\n5|y|bob|dune\n' | tr '|' ',' >in.csv
dpmf import -q in.csv --columns rating,_,user,item -o r.dpr && dpmf export -q r.dpr --csv -
