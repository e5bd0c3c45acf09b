# A signal ends it, and nothing is left behind.
mkdir temporary
TMPDIR=$PWD/temporary timeout --preserve-status -s INT 1 dpmf bench -k 16 -j 1 --ratings 50000 \
    --seconds 60 >page
echo $?
ls temporary
