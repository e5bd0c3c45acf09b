command -v script >/dev/null || { echo "no script(1) here"; exit 77; }

TERM=xterm script -qec 'dpmf synth --like ml-1m -j 1 -o r.dpr' /dev/null </dev/null |
    tr -cd '\r' | wc -c | grep -q '^[1-9]' && echo drawn
TERM=xterm script -qec 'dpmf synth -q --like ml-1m -o r.dpr' /dev/null </dev/null
