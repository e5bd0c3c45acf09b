# A tensor that no release has, in a file that is right otherwise: its bytes come last.
release=$CLI_TESTS/fixtures/release.safetensors
size=$(stat -c %s "$release")
header=$(od -An -tu8 -N8 "$release" | tr -d " ")
text=$(tail -c +9 "$release" | head -c "$header")
text=${text%"${text##*[! ]}"}
data=$((size - 8 - header))
text="${text%\}},\"user_factors\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[$data,$((data + 3))]}}"
length=${#text}
{
    for ((i = 0; i < 8; i++)); do printf %b "\\x$(printf %02x $((length >> 8 * i & 255)))"; done
    printf "%s" "$text"
    tail -c "$data" "$release"
    printf "ann"
} >extra.safetensors
dpmf privacy verify extra.safetensors
