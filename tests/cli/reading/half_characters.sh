printf "%s\n" "{\"user\":\"\\ud800\",\"item\":\"x\",\"rating\":1}" >in.jsonl
dpmf import in.jsonl -o out.dpr
