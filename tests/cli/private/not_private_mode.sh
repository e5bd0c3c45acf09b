# What is stamped NOT PRIVATE is for its maker alone; a release is for everyone.
export XDG_STATE_HOME=$PWD/state
umask 022
printf 'user,item,rating\n1,1,5\n1,2,3\n2,1,4\n' >r.csv
printf 'item\n1\n2\n' >items.csv
for more in "--insecure-noise-seed 1" "--research" ""; do
    # shellcheck disable=SC2086 # words they are
    dpmf train -q r.csv --format csv --epsilon 1 --rating-range 1:5 --catalogue items.csv \
        -o r.safetensors $more 2>/dev/null
    echo "$more: status $?, mode $(stat -c %a r.safetensors)"
    rm -f r.safetensors
done
