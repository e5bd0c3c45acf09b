printf '%s\n' user,item,rating ann,dune,4 ann,dune,5 bob,dune,x bob,solaris,nan bob,solaris,1 \
    >in.csv
dpmf import in.csv --on-error skip -o r.dpr
