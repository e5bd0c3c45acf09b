dpmf bench --threads 0
