# Whoever forgets --resume does not lose what a run has got to; one that has ended is begun over
dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
learn=(dpmf train r.dpr -k 4 --no-adapt --deterministic -q)
learn+=(--snapshot s.safetensors -o m.safetensors)
"${learn[@]}" --epochs 100000000 &
until [[ -s s.safetensors ]]; do sleep 0.05; done
{ kill -9 $!; wait $!; } 2>/dev/null
"${learn[@]}" --epochs 6 2>&1 | sed 's/of [0-9]* of/of N of/'
echo "exit ${PIPESTATUS[0]}"
dpmf describe s.safetensors | grep -o 'of 100,000,000 epochs'
dpmf train r.dpr --continue s.safetensors --snapshot s.safetensors -o m.safetensors -q 2>/dev/null
echo "exit $?"
"${learn[@]}" --epochs 6 --replace && echo replaced
"${learn[@]}" --epochs 6 && echo again
