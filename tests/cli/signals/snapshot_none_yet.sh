# SIGINT before training has begun: there is nothing to go on from, and a file of that name is left
# as it is.
mkfifo ratings
exec 9<>ratings
echo mine >run.safetensors
timeout --foreground --preserve-status -s INT 0.5 dpmf train ratings --snapshot run.safetensors \
    --replace -o m.safetensors
echo "status $?"
cat run.safetensors
