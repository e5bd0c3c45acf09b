dpmf completion fish --json | cut -c 1-40
