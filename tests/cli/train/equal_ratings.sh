printf 'u,i,3\n' >one.csv
dpmf train -q one.csv -o one.safetensors && dpmf predict -q one.safetensors one.csv
awk 'BEGIN { for (i = 0; i < 400; i++) print "u" int(i / 20) ",i" i * 7 % 50 ",1" }' >equal.csv
dpmf train -q equal.csv -o equal.safetensors && dpmf evaluate -q equal.safetensors equal.csv |
    head -n 1
