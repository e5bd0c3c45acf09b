# shellcheck shell=bash disable=SC2154 # run.sh sets binary, here and runner
# Training without privacy by several processes: a part of run.sh, which has job, check and the
# rest, and whose folder is $here. Models as good as those of one process, whatever the number; the
# bytes that the model of docs/scaling.md says; snapshots that any number of processes goes on from;
# processes that die or have no room; what several processes refuse.

"$binary" synth -q --users 9000 --items 600 --ratings 400000 --rank 4 --seed 3 -o s.dpr
"$binary" split -q s.dpr --train st.dpr --test sv.dpr
check "ratings to train on" "$binary" shard -q st.dpr --parts 7 -o st.shards
sgd=(-k 16 --seed 4)
# until little changes: on the way there one order of visits is as good as another, but not the same
epochs=15
figure() { sed -nE "s/.*\"$2\":([0-9.e+-]+).*/\1/p" <<<"$1" | head -n 1; }
rmse() { figure "$("$binary" evaluate "$1" sv.dpr --json -q)" rmse; }
# near A B PERCENT
near() { awk -v a="$1" -v b="$2" -v p="$3" \
    'BEGIN { exit !(a > 0 && b > 0 && a / b < 1 + p / 100 && b / a < 1 + p / 100) }'; }

# ---- as good as one ------------------------------------------------------------------------------

"$binary" train -q st.dpr "${sgd[@]}" --epochs "$epochs" -j 1 -o one.safetensors ||
    fail "one process"
one=$(rmse one.safetensors)
for n in 1 2 3 4 8; do
    for input in st.dpr st.shards; do
        rm -f many.safetensors
        job "$n" train "$input" "${sgd[@]}" --epochs "$epochs" -j 1 --json -q -o many.safetensors
        check "sgd, $n processes, $input: status" test $? = 0
        check "sgd, $n processes, $input: as good as one" near "$(rmse many.safetensors)" "$one" 0.3
        check "sgd, $n processes, $input: one tells" test "$(grep -c '"event":"epoch"' log)" = \
            "$epochs"
        if ((n > 1)); then
            expected=$(python3 "$here/../../bench/scaling_model.py" bytes --ranks "$n" \
                --items 600 --factors 16)
            sent=$(figure "$(grep '"event":"done"' log)" bytes_sent)
            check "sgd, $n processes, $input: $sent bytes sent, $epochs times $expected" \
                near "$sent" "$((epochs * expected))" 10
        fi
    done
done
job 3 train st.dpr "${sgd[@]}" --epochs 3 -j 1 --deterministic -o d1.safetensors
job 3 train st.dpr "${sgd[@]}" --epochs 3 -j 2 --deterministic -o d2.safetensors
check "sgd, deterministic: the same bits for any number of threads" cmp \
    -s d1.safetensors d2.safetensors
job 3 train st.shards "${sgd[@]}" --epochs 4 --valid sv.dpr --json -q -o many.safetensors
check "sgd, a validation set: what was told" \
    near "$(figure "$(grep '"event":"done"' log)" valid_rmse)" "$(rmse many.safetensors)" 0.0001

# ---- snapshots -----------------------------------------------------------------------------------

snapshot=(--snapshot run.safetensors)
"$binary" train -q st.dpr "${sgd[@]}" --decay 0.5 --epochs "$epochs" -j 1 -o whole.safetensors
for pair in "3 2" "2 1" "1 4"; do
    read -r from to <<<"$pair"
    rm -f run.safetensors many.safetensors
    job "$from" train st.dpr "${sgd[@]}" --decay 0.5 --epochs 3 "${snapshot[@]}" -q \
        -o many.safetensors
    check "sgd, a snapshot by $from processes: status" test $? = 0
    job "$to" train st.dpr "${sgd[@]}" --decay 0.5 --epochs "$epochs" --resume run.safetensors \
        --json -q -o many.safetensors
    check "sgd, gone on with by $to processes: status" test $? = 0
    check "sgd, gone on with by $to processes: the other epochs" test \
        "$(grep -c '"event":"epoch"' log)" = "$((epochs - 3))"
    check "sgd, gone on with by $to processes: as good" near "$(rmse many.safetensors)" \
        "$(rmse whole.safetensors)" 0.3
done

# ---- refusals ------------------------------------------------------------------------------------

rm -f x.safetensors
job 2 train st.dpr --hogwild -o x.safetensors
check "sgd, Hogwild: status" test $? = 2
check "sgd, Hogwild: one error" one_error "Hogwild needs a single process"
job 2 train st.dpr --tiers 50,100 -o x.safetensors
check "sgd, tiers: one error" one_error "tiers need a single process"
job 2 train st.dpr -k 64 --memory 6MiB -o x.safetensors
check "sgd, too little memory: one error" one_error "memory\|too little"
printf 'user,item,rating\na,x,1\nb,y,2\n' >few.csv
job 2 train few.csv -o x.safetensors
check "sgd, text: one error" one_error "from a store"
check "sgd, refused: no model" test ! -e x.safetensors

# ---- no room, and the end of a process -----------------------------------------------------------

FULL_RANK=0 job 3 train st.dpr "${sgd[@]}" --epochs 3 "${snapshot[@]}" -o x.safetensors
check "sgd, a full disk: status" test $? = 4
check "sgd, a full disk: one error" test "$(errors)" = 1
check "sgd, a full disk: no model" test ! -e x.safetensors
died=0
for i in $(seq 8); do
    rm -f x.safetensors run.safetensors
    rank=$((RANDOM % 3))
    begin_job 3 train st.dpr -k 64 --epochs 4000 --decay 0.5 --seed 4 -j 1 "${snapshot[@]}" -q \
        -o x.safetensors
    pid=$(pid_of "$rank")
    for _ in $(seq 200); do # mostly in the middle of an epoch, or of a snapshot
        ((i % 4 == 0)) || [[ -e run.safetensors ]] && break
        sleep 0.05
    done
    sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
    kill -9 "$pid" 2>/dev/null
    wait "$runner"
    check "sgd, death $i of process $rank: status" test $? != 0
    check "sgd, death $i: no model" test ! -e x.safetensors
    [[ -e run.safetensors ]] || continue
    died=$((died + 1))
    check "sgd, death $i of process $rank: it is named" grep -qE "rank $rank |rank $rank\$" log
    reached=$("$binary" describe run.safetensors --json | sed -nE 's/.*"epochs":([0-9]+).*/\1/p')
    job 2 train st.dpr -k 64 --epochs $((${reached:-0} + 2)) --decay 0.5 --seed 4 -j 1 \
        --resume run.safetensors \
        -q -o x.safetensors
    check "sgd, death $i: gone on with after epoch ${reached:-?}" test $? = 0
    "$binary" evaluate x.safetensors sv.dpr -q >log 2>&1
    check "sgd, death $i: a whole model" test $? = 0
done
check "sgd, some died with a snapshot" test "$died" -ge 4
