dpmf privacy account --mu -1
