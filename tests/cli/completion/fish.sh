command -v fish >/dev/null || { echo "no fish here"; exit 77; }
touch a.dpr
dpmf completion fish >dpmf.fish
fish -n dpmf.fish
fish --no-config -c \
    'source dpmf.fish; complete -C "dpmf im"; complete -C "dpmf import --for";
        complete -C "dpmf split --by t"; complete -C "dpmf help doc";
        complete -C "dpmf describe a."'
