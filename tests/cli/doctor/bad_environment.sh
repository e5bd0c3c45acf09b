# A value that is not understood is refused by every command: nobody should believe that it is in
# force.
DPMF_CACHES=48K dpmf doctor
echo $? >&2
DPMF_CACHES=32K,2M,lots dpmf synth --users 10 --items 10 --ratings 50 -o x.dpr
echo $? >&2
DPMF_CORES=0 dpmf doctor
echo $? >&2
DPMF_RAM=plenty dpmf doctor
echo $? >&2
DPMF_PAGE=96K dpmf doctor 2>&1 | head -n 1
ls
