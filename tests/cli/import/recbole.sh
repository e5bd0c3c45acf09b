printf 'user_id:token\titem_id:token\trating:float\ttimestamp:float\n' >in.csv
printf 'ann\tdune\t4\t100\nbob\tdune\t5\t200\n' >>in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
