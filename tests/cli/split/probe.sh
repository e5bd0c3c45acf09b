# A text input, and the pairs of a probe file.
printf 'user,item,rating\n7,1,1\n8,1,2\n9,1,3\n7,2,4\n8,2,5\n' >in.csv
printf '1:\n7\n9\n2:\n8\n6\n' >probe.txt
dpmf split in.csv --probe probe.txt --train a.dpr --test b.dpr
dpmf export -q b.dpr --csv - | sort
