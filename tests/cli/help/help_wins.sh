# --help is answered whatever else is missing.
dpmf import -h | head -n 1
