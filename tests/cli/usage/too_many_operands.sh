dpmf describe a.dpr b.dpr
