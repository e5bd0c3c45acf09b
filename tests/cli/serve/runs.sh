# The URL comes first and alone; SIGTERM and SIGINT end it as they end anything.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\ndune,Dune\n' >items.csv
for signal in TERM INT; do
    env --default-signal=INT dpmf serve release.safetensors --port 0 --catalogue \
        items.csv >url 2>said &
    until [[ -s url ]] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
    sed -E 's/:[0-9]+/:PORT/' url
    sleep 0.2
    kill -$signal $!
    wait $!
    echo "status $?"
    sed -E 's/page of .*,/page of SIZE,/' said
    rm url said
done
