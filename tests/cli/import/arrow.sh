# Arrow IPC files and streams: the same records from each; what is refused, and that nothing is
# written then. A seed of the fuzzer has a byte of options before the file.
for name in stream file zstd dictionary views polars; do
    tail -c +2 "$CLI_TESTS/../fuzz/corpus/arrow_ipc/$name" >"$name.arrow"
    dpmf import "$name.arrow" -o "$name.dpr" --on-error skip -q
    dpmf export "$name.dpr" --csv - -q | grep -v '^user'
done
dpmf import file.arrow -o never.dpr
tail -c +2 "$CLI_TESTS/../fuzz/corpus/arrow_ipc/lz4" >lz4.arrow
dpmf import lz4.arrow -o never.dpr
head -c 300 file.arrow >cut.arrow
dpmf import cut.arrow -o never.dpr
head -c 500 stream.arrow | dpmf import - -o never.dpr
dpmf import file.arrow --user-column who -o never.dpr
dpmf import file.arrow --rating-column user --item-column item -o never.dpr
dpmf import file.arrow --columns user,item,rating -o never.dpr
tail -c +2 "$CLI_TESTS/../fuzz/corpus/arrow_ipc/nested" >nested.arrow
dpmf import nested.arrow --item-column x -o never.dpr
dpmf import stream.arrow --format csv -o never.dpr 2>/dev/null || echo "not csv"
gzip -c stream.arrow | dpmf import - --format arrow --on-error skip -o gz.dpr -q
cmp gz.dpr stream.dpr && echo "the same"
# What is left out without a word: a stream without its end, two in one, a footer that lists no
# batch.
head -c -8 stream.arrow >endless.arrow
dpmf import endless.arrow --on-error skip -o never.dpr
cat stream.arrow stream.arrow >two.arrow
dpmf import two.arrow --on-error skip -o never.dpr
cp file.arrow omitted.arrow
printf '\0' | dd of=omitted.arrow bs=1 seek=748 conv=notrunc status=none
dpmf import omitted.arrow --on-error skip -o never.dpr
dpmf import - --on-error skip -o never.dpr <omitted.arrow
{ head -c 712 file.arrow; head -c 64 /dev/zero; tail -c +713 file.arrow; } |
    dpmf import - --on-error skip -o never.dpr
cp polars.arrow hidden.arrow
printf '\377\377\377\377' | dd of=hidden.arrow bs=1 seek=16 conv=notrunc status=none
dpmf import hidden.arrow --on-error skip -o never.dpr
ls never.dpr 2>/dev/null
exit 0
