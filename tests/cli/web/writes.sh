# What is written, for whom, and that the release is the same to the byte.
cp "$CLI_TESTS/fixtures/release.safetensors" .
umask 027
printf 'item,title\ndune,Dune\nalien,Alien\n' >items.csv
dpmf export release.safetensors --web site --catalogue items.csv 2>&1 |
    sed -E "s|$PWD|HERE|; s/\([0-9.]+ [kM]?B\) in [0-9.]+ s/(SIZE) in TIME/"
stat -c '%a %n' site site/*
ls -A site
cmp release.safetensors site/release.safetensors
dpmf privacy show release.safetensors | cmp - site/statement.txt
