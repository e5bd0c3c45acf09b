dpmf --version
