dpmf privacy account --releases "$(seq -s, 1 1025)"
