# Numbers above 0, of epochs, blocks or time; epochs and blocks are whole.
for every in 0 x 3.5 2weeks blocks 0s 1.5blocks -1; do
    dpmf train r.dpr -o m.safetensors --snapshot s.safetensors --snapshot-every "$every"
done
