# A query that would go on for ever ends with the signal, and leaves nothing
python3 "$CLI_TESTS/database/make_database.py"
python3 - <<'PYTHON'
import signal, subprocess, time
query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) " \
    "SELECT i, i, 1 AS rating FROM n WHERE i < 0"
run = subprocess.Popen(["dpmf", "import", "sqlite:ratings.db?query=" + query, "-o", "r.dpr"])
# The library is loaded after the program is ready for signals, and just before the query begins.
while "sqlite" not in open(f"/proc/{run.pid}/maps").read() and run.poll() is None:
    time.sleep(0.05)
time.sleep(0.3)
run.send_signal(signal.SIGINT)
print("exit", run.wait(timeout=100))
PYTHON
ls
