# A shard is not written over by what is made of all of them.
dpmf synth -q --users 300 --items 40 --ratings 4000 -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
cp -r shards before
dpmf import shards -o shards/00000.dpr -q
echo "status $?"
cd shards || exit
dpmf train . -o 00001.dpr -q
echo "status $?"
diff -r . ../before && echo "nothing changed"
dpmf import . -o all.dpr -q && echo "another file may be made there"
