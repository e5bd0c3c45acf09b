dpmf privacy account --releases 0.1,0.2,0.3 --delta 1e-6
dpmf privacy account --releases 0.3
