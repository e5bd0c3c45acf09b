printf '1::10::4::978300760\n1::20::3.5::978302109\n2::10::5::978301968\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
