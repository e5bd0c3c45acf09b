# Ids may hold colons: the last one of a pair parts it. An id that is a number is no rating.
printf 'user,item,rating\na,tt:12,5\na,tt:7,1\nb,tt:12,4\nb,tt,2\nc,12,3\n' >r.csv
dpmf train -q r.csv -k 1 --epochs 1 -o m.safetensors
dpmf recommend m.safetensors --ratings tt:12:5,tt:7:1,tt:3 | grep -o '[^ ]*$'
dpmf recommend m.safetensors --ratings tt:12 | grep -o '[^ ]*$' | sort
