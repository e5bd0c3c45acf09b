# Names that cannot be told apart, or break lines.
for name in '' ' movies' $'mov\nies' $'\xff' $'\e[31m' "$(printf 'x%.0s' {1..129})"; do
    dpmf ledger budget "$name" 1 --ledger ledger
    echo "exit $?"
done
ls -A
