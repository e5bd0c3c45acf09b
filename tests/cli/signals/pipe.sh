# A reader that leaves ends the program quietly, also when a parent had SIGPIPE ignored.
dpmf synth -q --users 5000 --items 500 --ratings 300000 -o r.dpr
dpmf export r.dpr --csv - | head -n 1
echo "${PIPESTATUS[0]}"
(
    trap '' PIPE
    dpmf export r.dpr --csv - | head -n 1
    echo "${PIPESTATUS[0]}"
)
