dpmf synth -q --users 3000 --items 300 --ratings 100000 -o s.dpr
ulimit -f 50
dpmf import s.dpr -o out.dpr
status=$?
ls
exit $status
