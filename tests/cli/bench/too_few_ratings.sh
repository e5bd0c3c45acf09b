dpmf bench --ratings 100
