# Asked for, it is drawn, and cleared at the end.
dpmf synth --like ml-1m --progress always -j 1 -o r.dpr 2>err
tr '\r' '\n' <err | grep -c -e '[0-9] %' -e 'ratings' | grep -q '^[1-9]' && echo drawn
tail -c 200 err | grep -o 'packed [0-9,]* ratings'
