dpmf synth -q --users 200 --items 60 --ratings 4000 --seed 3 -o all.dpr
dpmf split -q all.dpr --train train.dpr --test test.dpr
dpmf train -q train.dpr --goal ranking -k 8 --epochs 3 --kernels ref -j 1 --deterministic \
    -o a.safetensors
dpmf train -q train.dpr --solver ials -k 8 --epochs 3 --kernels ref -j 3 --deterministic \
    -o b.safetensors
cmp a.safetensors b.safetensors && echo "the same model for any number of threads"
dpmf describe a.safetensors | grep -E 'goal|settings'
dpmf describe a.safetensors --json | grep -oE '"(goal|like|exponent)":[^,]*'
dpmf evaluate a.safetensors test.dpr --history train.dpr -q --json |
    grep -oE '"(rmse|top|ranked_users)":[^,]*'
dpmf recommend a.safetensors --user 7 --history train.dpr -q -n 3 | wc -l
dpmf recommend a.safetensors --ratings 3:5 -q -n 3 | wc -l
dpmf similar a.safetensors --item 3 -q -n 3 | wc -l
dpmf explain a.safetensors --ratings 3:5 --item 9 -q >explained && echo explained
dpmf train -q train.dpr --goal ranking --like 4 -k 4 --epochs 2 --valid test.dpr --json \
    -o c.safetensors |
    grep -oE '"(event|valid_ndcg|train_rmse)"' | sort | uniq -c
