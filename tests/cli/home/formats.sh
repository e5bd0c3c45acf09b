# The same ratings, however they are written: as a file, on standard input, through a pipe,
# compressed.
mkdir tmp
export TMPDIR=$PWD/tmp
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'dune,5\nbrazil,2\n' >two
printf 'item,rating\ndune,5\nbrazil,2\n' >named
printf 'rating\tcomment\tmovieId\n5\tgreat\tdune\n2\t\tbrazil\n' >turned
printf 'userId,movieId,rating,timestamp\nme,dune,5,1\nme,brazil,2,2\n' >whole
printf 'me,dune,5\nme,brazil,2\n' >bare
printf 'me::dune::5::1\nme::brazil::2::2\n' >movielens
printf '{"user":"me","item":"dune","rating":5}\n{"user":"me","item":"brazil","rating":2}\n' >lines
printf 'user_id:token\titem_id:token\trating:float\nme\tdune\t5\nme\tbrazil\t2\n' >inter
printf 'dune:\nme,5,2005-01-01\nbrazil:\nme,2,2005-01-01\n' >netflix
printf 'me|2\ndune\t5\nbrazil\t2\n' >yahoo
gzip -c two >two.gz
zstd -q whole -o whole.zst
dpmf import -q whole -o store
dpmf recommend release.safetensors --ratings two | tee expected
for file in named turned whole bare movielens lines inter netflix yahoo two.gz whole.zst store; do
    for way in file stdin pipe; do
        case $way in
        file) dpmf recommend release.safetensors --ratings "$file" ;;
        stdin) dpmf recommend release.safetensors --ratings - <"$file" ;;
        pipe) dpmf recommend release.safetensors --ratings <(cat "$file") ;;
        esac | cmp - expected || echo "$file, $way"
    done
done
ls -A tmp
