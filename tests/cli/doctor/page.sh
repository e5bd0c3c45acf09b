dpmf doctor | cut -c 1-16 | sort -u
