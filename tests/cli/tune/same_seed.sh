# The same trials for any number of threads; others for another seed.
dpmf synth -q --users 300 --items 60 --ratings 6000 -o ratings.dpr
for arguments in '-j 1' '-j 2' '-j 3' '-j 2 --seed 2'; do
    # shellcheck disable=SC2086 # words they are
    dpmf tune ratings.dpr --trials 10 --json $arguments | grep '"event":"trial"' |
        sed 's/,"seconds":[^}]*//' >"trials $arguments"
    wc -l <"trials $arguments"
done
cmp 'trials -j 1' 'trials -j 2' && cmp 'trials -j 1' 'trials -j 3' && echo the same
cmp -s 'trials -j 1' 'trials -j 2 --seed 2' || echo others
