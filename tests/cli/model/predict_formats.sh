# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# The same two pairs in every format, in the order of the file.
try() { dpmf predict m.safetensors "$1" | tail -n +2; }
printf 'ann::dune::4::0\nbob::alien::2::0\n' >a.dat
printf 'dune:\nann,4,2005-01-01\nalien:\nbob,2,2005-01-01\n' >b.txt
printf 'ann|1\ndune\t80\nbob|1\nalien\t20\n' >c.txt
printf '%s\n' '{"user":"ann","item":"dune","rating":4}' '{"user":"bob","item":"alien","rating":2}' \
    >d.jsonl
printf 'item_id:token\tuser_id:token\trating:float\ndune\tann\t4\nalien\tbob\t2\n' >e.inter
gzip -c d.jsonl >f.gz
for file in a.dat b.txt c.txt d.jsonl e.inter f.gz; do echo "$file" && try "$file"; done
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 2\n' >g.mtx
try g.mtx
