dpmf demo -q --json | cut -d: -f1 | sort -u
