command -v script >/dev/null || { echo "no script(1) here"; exit 77; }

# Colour on a terminal, unless NO_COLOR or a dumb one.
TERM=xterm script -qec 'dpmf describe none.dpr' /dev/null </dev/null | head -n 1 | cat -v
TERM=xterm NO_COLOR=1 script -qec 'dpmf describe none.dpr' /dev/null </dev/null | head -n 1 | cat -v
TERM=dumb script -qec 'dpmf describe none.dpr' /dev/null </dev/null | head -n 1 | cat -v
