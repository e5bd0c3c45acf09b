dpmf import -o r.dpr
