dpmf export r.dpr
