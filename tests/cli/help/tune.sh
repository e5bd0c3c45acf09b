dpmf help tune
