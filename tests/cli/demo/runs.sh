# It ends well, shows each command, and leaves nothing behind.
mkdir tmp
TMPDIR=$PWD/tmp dpmf demo -q | tee all | grep -e '^\$' -e '^user,item'
tail -n 1 all
ls -A tmp
