# It ends well, shows each command, and leaves nothing behind.
mkdir tmp
TMPDIR=$PWD/tmp dpmf demo -q | grep -e '^\$' -e '^user,item'
ls -A tmp
