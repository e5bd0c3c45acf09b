dpmf --version
dpmf version
