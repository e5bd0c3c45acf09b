# Times that are none
python3 "$CLI_TESTS/database/make_database.py"
for time in "'yesterday'" "1e300" "x'00'" "-9223372036854775808"; do
    dpmf import "sqlite:ratings.db?query=SELECT 1, 2, 3 AS rating, $time AS timestamp" -o r.dpr
    echo "exit $?"
done
