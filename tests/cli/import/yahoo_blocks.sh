printf '0|2\n507696\t90\n137916\t100\n1|1\n507696\t50\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
