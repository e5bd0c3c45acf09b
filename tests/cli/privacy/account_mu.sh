# The same the other way round; delta moves it.
dpmf privacy account --mu 0.26805
dpmf privacy account --mu 0.26805 --delta 1e-9
