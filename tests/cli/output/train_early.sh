# Hours of training end in a file: that it can be written is found out before anything is read, by
# way of a pipe that nobody fills. Every solver, the snapshots and the trace.
mkfifo ratings.csv
mkdir there
first() { timeout 100 dpmf "$@"; echo "status $?"; }
first train ratings.csv -o nonexist/m.safetensors
first train ratings.csv -o there
first train ratings.csv -o there/
first train ratings.csv -o ratings.csv
for solver in gibbs sgld; do first train ratings.csv --solver $solver -o nonexist/m.safetensors
done
first train ratings.csv -o m.safetensors --snapshot nonexist/s.safetensors
first train ratings.csv -o m.safetensors --solver gibbs --trace nonexist/t.svg
first tune ratings.csv -o nonexist/m.safetensors
first split ratings.csv --train nonexist/a.dpr --test b.dpr
first split ratings.csv --train a.dpr --test nonexist/b.dpr
first shard ratings.csv --parts 2 -o nonexist/shards
first shard ratings.csv --parts 2 -o there
first import ratings.csv -o nonexist/r.dpr
first export ratings.csv --csv nonexist/out
first export ratings.csv --csv ratings.csv
ls -A . there
