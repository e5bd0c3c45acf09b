# Every command has a page, and man has nothing to say about it.
[[ -x $(command -v dpmf-manpages) ]] || { echo "dpmf-manpages is not beside the binary"; exit 77; }
mkdir man
dpmf-manpages man
ls man
command -v man >/dev/null || exit 0
for page in man/*.1; do
    # shellcheck disable=SC2069 # the page is thrown away, the warnings are not
    MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null
done
