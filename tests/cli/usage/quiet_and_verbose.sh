dpmf doctor -qv
