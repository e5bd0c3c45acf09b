mkfifo pipe; dpmf serve pipe --port 0
