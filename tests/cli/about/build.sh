# shellcheck source=/dev/null
. "$CLI_TESTS/declared_release.sh"
echo "title: a" >about.txt
declared_release
# The statement names the build; neither this folder nor a date is in the file.
dpmf privacy show release.safetensors --json | grep -oE '"build":\{[^}]*\}' |
    sed -E 's/"commit":"(unknown|[0-9a-f]{40}(\+changed)?)"/"commit":"..."/;
        s/"compiler":"[A-Za-z]+ [0-9.]+"/"compiler":"..."/;
            s/"sources":"[0-9a-f]{64}"/"sources":"..."/'
dpmf privacy show release.safetensors | grep -cE '^      (commit|compiler|sources) +[^ ]'
grep -c "$PWD" release.safetensors
dpmf privacy show release.safetensors --json | grep -oE '"epsilon_at":\[[^]]*\]' |
    grep -oE '"delta":[0-9e.-]+'
true
