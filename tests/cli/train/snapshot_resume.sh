# However often it is snapshot, a run ends with the same model; and it goes on from its own last
# snapshot, which it may replace.
dpmf synth --users 300 --items 80 --ratings 6000 -o r.dpr -q
learn=(dpmf train r.dpr -k 8 --epochs 3 --deterministic -q)
"${learn[@]}" -o m.safetensors
for every in 1 2epochs 3blocks 1block 0.001s 10min 1h; do
    "${learn[@]}" --snapshot s.safetensors --snapshot-every "$every" -o n.safetensors &&
        cmp m.safetensors n.safetensors
    "${learn[@]}" --snapshot s.safetensors --resume s.safetensors -o n.safetensors &&
        cmp m.safetensors n.safetensors
done
stat -c '%a' s.safetensors
