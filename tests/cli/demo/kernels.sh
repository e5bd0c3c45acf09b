# --kernels reaches every step that computes.
dpmf demo -q --json --kernels ref | grep -o '"kernels":"[a-z0-9]*"' | sort -u
dpmf demo -q --kernels cray
echo $? >&2
