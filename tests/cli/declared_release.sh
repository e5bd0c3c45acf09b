# shellcheck shell=bash
# A small release with the declaration about.txt, for the cases of about/.
declared_release() {
    dpmf ledger init -q ledger || exit 1
    dpmf synth -q --users 300 --items 40 --ratings 3000 --catalogue-out items.csv -o all.dpr ||
        exit 1
    dpmf train -q all.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger \
        --about about.txt \
        -o release.safetensors || exit $?
}
