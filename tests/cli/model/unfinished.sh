# A snapshot of a run that has not ended is used like a model, but not without a word.
dpmf synth -q --users 200 --items 40 --ratings 3000 -o r.dpr
dpmf split -q r.dpr --train a.dpr --test b.dpr
learn() { dpmf train -q a.dpr -k 4 --no-adapt --decay 0 --deterministic "$@"; }
learn --epochs 2 --snapshot s.st -o done.st
learn --epochs 4 --resume s.st --snapshot s4.st -o longer.st
# what a run of four epochs leaves after two of them
/usr/bin/python3 - <<'PYTHON'
data = open("s.st", "rb").read()
assert data.count(b'\\"epochs\\":2,') == 1
open("half.st", "wb").write(data.replace(b'\\"epochs\\":2,', b'\\"epochs\\":4,'))
PYTHON
/usr/bin/python3 "$CLI_TESTS/seal_checkpoint.py" half.st
for model in done.st longer.st half.st; do
    echo "$model"
    dpmf evaluate "$model" b.dpr 2>&1 >/dev/null | grep epochs
    dpmf recommend "$model" --user 1 -n 1 2>&1 >/dev/null | grep epochs
    dpmf export "$model" --csv "${model%.st}" 2>&1 | grep 'of.*epochs'
done
exit 0
