# The real thing, when it is there: the same triples come back.
data=$CLI_TESTS/../../../shared/data/ml-100k
input=$(find "$data" -name 'u.data*' 2>/dev/null | head -n 1)
if [[ -z $input ]]; then echo "no ml-100k beside the tree"; exit 77; fi
dpmf import -q "$input" -o r.dpr
unpack() { case $1 in *.gz) gzip -dc "$1" ;; *.zst) zstd -dcq "$1" ;; *) cat "$1" ;; esac; }
diff <(dpmf export -q r.dpr --csv - | tail -n +2 | sort) \
    <(unpack "$input" | tr -d '\r' | sed 's/\t/,/g' | sort) | head -n 5
