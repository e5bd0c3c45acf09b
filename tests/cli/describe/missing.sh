dpmf describe nothing.dpr
