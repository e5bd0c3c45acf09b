# On a terminal a private run asks before it makes a ledger: only a yes makes it, and without one
# nothing is spent.
dpmf synth -q --users 50 --items 10 --ratings 300 --catalogue-out items.csv -o r.dpr
cat >answer.py <<'END'
"""Runs the command on a terminal of its own, and types the answer when it is asked."""
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
answer, said = sys.argv[1].encode(), b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:  # the other end is closed
        break
    if not more:
        break
    said += more
    if answer and said.endswith(b"[y/N] "):
        os.write(terminal, answer)
        answer = b""
sys.stdout.write(said.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
# try ANSWER LEDGER
try() {
    NO_COLOR=1 python3 answer.py "$1" dpmf train -q r.dpr --mechanism biases --epsilon 1 \
        --rating-range 1:5 --catalogue items.csv \
        --progress never --ledger "$2" -o r.safetensors
    echo "exit $?, release $(ls r.safetensors 2>/dev/null), ledger $(ls "$2" 2>/dev/null)"
    rm -f r.safetensors
}
for answer in n maybe '' Yes 'y or n'; do
    try "$answer"$'\n' refused
done
# The end of input is no yes either.
try $'\x04' refused
try $'y\n' made
try $'yes\n' made_too
# One that is there is not asked about.
try $'n\n' made
dpmf ledger show --ledger made | grep -c committed
