dpmf privacy account --releases 0.1,,0.2
