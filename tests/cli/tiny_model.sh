# Makes a model by hand for the golden tests: three users, four items, two factors, and numbers
# whose sums are exact on every machine.
#
#   . "$CLI_TESTS/tiny_model.sh"; tiny_model FILE [MORE [counts]]
#
# MORE is what the state of the run says beyond what it always does, e.g. ',\"samples\":2'. With
# counts, 8, 2, 4 and 1 people had the items; without, it is as 0.1.0 wrote models.
#
#   ann   ( 1,   0  ) +0.5       dune    ( 1, 0  ) +0.25
#   bob   ( 0,   1  ) -0.5       solaris ( 1, 0.5) +0
#   cleo  ( 0.5, 0.5) +0         alien   ( 0, 1  ) +0.5      offset 3, scale 1 to 5
#                                brazil  (-1, 0  ) -0.25

# little BYTES NUMBER: a whole number, the lowest byte first, as escapes of printf
little() {
    local i
    for ((i = 0; i < $1; i++)); do printf '\\x%02x' $(($2 >> 8 * i & 255)); done
}

# floats NUMBER...: of those few that are needed
floats() {
    local number
    for number; do
        case $number in
        0) printf '\\x00\\x00\\x00\\x00' ;;
        0.25) printf '\\x00\\x00\\x80\\x3e' ;;
        -0.25) printf '\\x00\\x00\\x80\\xbe' ;;
        0.5) printf '\\x00\\x00\\x00\\x3f' ;;
        -0.5) printf '\\x00\\x00\\x00\\xbf' ;;
        1) printf '\\x00\\x00\\x80\\x3f' ;;
        2) printf '\\x00\\x00\\x00\\x40' ;;
        4) printf '\\x00\\x00\\x80\\x40' ;;
        8) printf '\\x00\\x00\\x00\\x41' ;;
        -1) printf '\\x00\\x00\\x80\\xbf' ;;
        esac
    done
}

# tensor NAME TYPE SHAPE BYTES: its entry in the header; the next begins where it ends
tensor() {
    printf ',"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}' \
        "$1" "$2" "$3" "$tensor_end" $((tensor_end + $4))
    tensor_end=$((tensor_end + $4))
}

tiny_model() {
    local state='{\"epoch\":9,\"seed\":\"1\",\"learning_rate\":0.05,\"decay\":-1,'
    state+='\"regularization\":0.125,\"ratings\":\"8\",\"fingerprint\":\"0\",\"best_valid\":0.75,'
    state+='\"best_epoch\":8'${2-}'}'
    local header='{"__metadata__":{"dpmf.kind":"checkpoint","dpmf.format":"2","dpmf.version":"0.1.0",'
    header+='"dpmf.offset":"3","dpmf.min":"1","dpmf.max":"5","dpmf.provenance":"{}",'
    header+="\"dpmf.state\":\"$state\",\"dpmf.checksum\":\"0000000000000000\"}"
    local tensor_end=0
    {
        tensor user_id_offsets I64 4 32
        tensor item_id_offsets I64 5 40
        tensor user_factors F32 3,2 24
        tensor item_factors F32 4,2 32
        tensor user_biases F32 3 12
        tensor item_biases F32 4 16
        [[ ${3-} != counts ]] || tensor item_counts F32 4 16
        tensor user_id_bytes U8 10 10
        tensor item_id_bytes U8 22 22
        echo '}'
    } >header
    header+=$(<header)
    rm header
    local i body=''
    for i in 0 3 6 10 0 4 11 16 22; do body+=$(little 8 "$i"); done
    body+=$(floats 1 0 0 1 0.5 0.5)
    body+=$(floats 1 0 1 0.5 0 1 -1 0)
    body+=$(floats 0.5 -0.5 0 0.25 0 0.5 -0.25)
    [[ ${3-} != counts ]] || body+=$(floats 8 2 4 1)
    {
        # shellcheck disable=SC2059 # escapes they are
        printf "$(little 8 ${#header})"
        printf '%s' "$header"
        # shellcheck disable=SC2059
        printf "$body"
        printf 'annbobcleodunesolarisalienbrazil'
    } >"$1"
    /usr/bin/python3 "$CLI_TESTS/seal_checkpoint.py" "$1"
}

# The ratings it might have been trained on.
tiny_history() {
    printf '%s\n' user,item,rating ann,dune,5 ann,brazil,2 bob,alien,4 cleo,dune,4 cleo,alien,4 \
        >"$1"
}
