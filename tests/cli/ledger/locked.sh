# Whoever waits for the ledger is told so, and can be interrupted.
command -v flock >/dev/null || { echo "there is no flock" && exit 77; }
dpmf ledger init -q ledger
exec 9<ledger.lock
flock 9
: >error
dpmf ledger budget movies 1 --ledger ledger 2>error 9<&- &
waiting=$!
for ((i = 0; i < 300; i++)); do
    grep -q waiting error && break
    sleep 0.1
done
kill -TERM "$waiting"
wait "$waiting"
echo "exit $?"
cat error
exec 9<&-
dpmf ledger show --ledger ledger
