dpmf doctor --json
