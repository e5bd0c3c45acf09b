dpmf serve
