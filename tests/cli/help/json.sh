# One object per command, for programs that build on dpmf.
dpmf help --json | cut -d, -f1
dpmf help doctor --json
