# Ratings that the model has learned already count twice, which is said.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o all.dpr
dpmf split -q all.dpr --train old.dpr --test new.dpr
dpmf train -q old.dpr -k 4 --no-adapt --epochs 3 -o m.safetensors
dpmf train old.dpr --progress never --continue m.safetensors -o n.safetensors 2>&1 | grep warning
echo "status ${PIPESTATUS[0]}"
dpmf train new.dpr --progress never --continue m.safetensors -o n.safetensors 2>&1 | grep warning
echo "status ${PIPESTATUS[0]}"
dpmf train new.dpr --progress never --continue n.safetensors -o o.safetensors 2>&1 | grep warning
echo "status ${PIPESTATUS[0]}"
dpmf train -q old.dpr --goal ranking -k 4 --epochs 2 -o r.safetensors
dpmf train old.dpr --progress never --continue r.safetensors -o s.safetensors 2>&1 | grep warning
echo "status ${PIPESTATUS[0]}"
{ echo user,item,rating && dpmf export -q old.dpr --csv - | tail -n +3 | sort -r; } >old.csv
dpmf train old.csv --progress never --continue n.safetensors -o p.safetensors 2>&1 | grep warning
echo "status ${PIPESTATUS[0]}"
dpmf train all.dpr --progress never --continue m.safetensors -o q.safetensors 2>&1 | grep warning
echo "status ${PIPESTATUS[0]}"
