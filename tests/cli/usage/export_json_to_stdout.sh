dpmf export r.dpr --csv - --json
