dpmf serve . --port 0
