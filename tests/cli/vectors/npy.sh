# A release and a checkpoint for NumPy, bit for bit, and whose files they are.
# shellcheck source=/dev/null
. "$CLI_TESTS/exported_vectors.sh"
need_numpy
umask 022
some_release
dpmf export release.safetensors --npy r 2>&1 |
    sed -E 's/[0-9]+ factors/K factors/; s/\([0-9.]+ kB\) in .*/(SIZE) in TIME/'
compare npy release.safetensors r
dpmf train -q all.dpr -k 9 --epochs 2 -o m.safetensors
dpmf export m.safetensors --npy i --not-private -q
compare npy m.safetensors i
dpmf export m.safetensors --npy u --not-private --users -q
compare npy m.safetensors u users
stat -c '%a %n' r r/* i i/* u u/*
ls -A
