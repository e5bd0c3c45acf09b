# Data that standard output does not take is an error; so is JSON, and help.
printf 'user,item,rating\nann,dune,1\n' >in.csv
for command in 'export -q in.csv --csv -' 'describe in.csv' 'describe in.csv --json' 'help' \
    'doctor'; do
    # shellcheck disable=SC2086 # words it is
    dpmf $command >/dev/full
    echo $?
done
