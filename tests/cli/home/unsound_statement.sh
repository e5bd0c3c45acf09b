# Every verb at home says that a release is not what it should be, and goes on.
printf 'user,item,rating\nann,dune,5\nann,brazil,2\n' >history.csv
printf 'ann,dune,5\n' >pairs.csv
printf 'user,item,rating\nann,alien,4\n' >later.csv
for kind in false_claim insecure research; do
    cp "$CLI_TESTS/fixtures/$kind.safetensors" r
    for verb in "recommend r --ratings dune:5 -n 1" "predict r pairs.csv --history history.csv" \
        "similar r --item dune -n 1" \
        "explain r --ratings dune:5 --item alien" "evaluate r later.csv --history history.csv"; do
        # shellcheck disable=SC2086 # words they are
        dpmf $verb >/dev/null 2>said
        echo "${verb%% *} $?: $(grep warning said)"
    done
done
