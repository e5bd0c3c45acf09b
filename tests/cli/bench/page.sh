# Nothing is left behind.
mkdir temporary
TMPDIR=$PWD/temporary dpmf bench -k 16 -j 1 --kernels ref --ratings 20000 --seconds 0
ls temporary
