printf "1,2,3\n" | dpmf import - - -o out.dpr
