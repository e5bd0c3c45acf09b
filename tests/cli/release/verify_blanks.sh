# White space says nothing, and could say anything: what the header says and the digest are right.
release=$CLI_TESTS/fixtures/release.safetensors
header=$(od -An -tu8 -N8 "$release" | tr -d " ")
length=$((header + 4096))
{
    for ((i = 0; i < 8; i++)); do printf %b "\\x$(printf %02x $((length >> 8 * i & 255)))"; done
    tail -c +9 "$release" | head -c "$header"
    for ((i = 0; i < 2048; i++)); do printf " \t"; done
    tail -c +$((9 + header)) "$release"
} >blanks.safetensors
dpmf privacy verify blanks.safetensors
