# A named pipe can be read once, and is.
mkfifo pipe
printf 'user,item,rating\nann,dune,4\n' >pipe &
timeout 100 dpmf describe pipe | head -n 1
