dpmf frobnicate
