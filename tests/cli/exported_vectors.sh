# What the tests of exported vectors share.  . "$CLI_TESTS/exported_vectors.sh"

# Debian's own, whose NumPy is the python3-numpy of packages.txt; another one may come first on the
# PATH.
python=/usr/bin/python3

need_numpy() {
    "$python" -c 'import numpy' 2>/dev/null || { echo "$python has no NumPy here"; exit 77; }
}

# compare FORM MODEL OUTPUT [users]
compare() { "$python" -B "$CLI_TESTS/vectors/vectors.py" "$@"; }

# A small release, made in a second.
some_release() {
    dpmf synth -q --users 2000 --items 80 --ratings 60000 --catalogue-out items.csv -o all.dpr
    dpmf ledger init -q ledger
    dpmf train -q all.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv --ledger ledger \
        -o release.safetensors
}

# A checkpoint with ids and floats of every kind.
odd_checkpoint() { "$python" -B "$CLI_TESTS/vectors/vectors.py" make "$1"; }
