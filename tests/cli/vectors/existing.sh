# Nothing that is there is lost: a directory must be empty, a file is replaced only when that is
# asked for.
cp "$CLI_TESTS/fixtures/release.safetensors" .
umask 022
mkdir -m 750 empty full
echo mine >full/notes
for form in npy csv; do
    dpmf export -q release.safetensors --$form full; echo "status $?"
    dpmf export -q release.safetensors --$form full/notes; echo "status $?"
    dpmf export -q release.safetensors --$form a/b; echo "status $?"
    ln -s nowhere link
    dpmf export -q release.safetensors --$form link; echo "status $?"
    rm link
done
dpmf export -q release.safetensors --npy empty && stat -c %a empty && ls empty
(mkdir here && cd here && dpmf export -q ../release.safetensors --csv . && ls)
dpmf export -q release.safetensors --npy slashes/// && ls slashes
for form in libmf sqlite; do
    echo mine >out
    dpmf export -q release.safetensors --$form out; echo "status $?"
    cat out
    : >out
    dpmf export -q release.safetensors --$form out --replace; echo "status $?"
    dpmf export -q release.safetensors --$form out --replace; echo "status $?"
    head -c 3 out; echo
    dpmf export -q release.safetensors --$form empty --replace; echo "status $?"
    dpmf export -q release.safetensors --$form a/b; echo "status $?"
    rm out*
done
cat full/*
ls -A
