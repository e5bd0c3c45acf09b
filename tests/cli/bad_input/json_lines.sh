printf '{"user":"ann","item":"dune","rating":4}\n{"user":"bob","item":"dune",\n' >in.jsonl
dpmf import in.jsonl -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
