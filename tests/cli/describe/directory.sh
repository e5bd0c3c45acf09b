mkdir d
dpmf describe d
