# The general page lists the exit codes.
[[ -x $(command -v dpmf-manpages) ]] || { echo "dpmf-manpages is not beside the binary"; exit 77; }
mkdir man
dpmf-manpages man
sed -n '/^.SH EXIT STATUS/,/^.SH ENV/p' man/dpmf.1
