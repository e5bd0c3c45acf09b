# JSON lines say what a key is by the names that headers have, and nothing is an event by chance
try() {
    printf '%s\n' "$@" >in.jsonl
    dpmf import in.jsonl --replace -o r.dpr >said 2>&1 || echo "exit $?"
    grep -e error -e '^  ' -e 'not used' said
    test -e r.dpr && dpmf export -q r.dpr --csv - && rm r.dpr
    true
}
try '{"user":"a","item":"x","grade":5}'
try '{"user":"a","item":"x","n_plays":500}'
try '{"user":"a","item":"x","like":false}'
try '{"user":"a","item":"x"}' '{"user":"a","item":"y","event":"remove"}'
try '{"user":"a","item":"x","plays":2,"device":"tv"}'
try '{"user":"a","item":"x","rating":3,"lang":"en","plays":7}' \
    '{"user":"a","item":"y","rating":3,"note":{"time":1}}'
# times, under the names that serve where no key is the time
try '{"user":"a","item":"x","rating":3,"created_at":"2020-01-01T00:00:00Z"}' \
    '{"Rated At":null,"user":"a","item":"y","rating":2}' \
    '{"unix_time":9,"user":"a","item":"z","rating":2,"timestamp":8}'
try '{"user":"a","item":"y","rating":4,"created_at":"Wed Jan 01 2020"}'
try '{"user":"a","item":"y","rating":4,"created_at":{"seconds":1}}'
# declared as events, they say what was not looked at
printf '{"user":"a","item":"x","event":"remove"}\n' >in.jsonl
dpmf import in.jsonl --events --replace -o r.dpr 2>&1 | grep 'not used'
