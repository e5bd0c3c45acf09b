# The list of commands, in the three ways to ask for it.
dpmf help
diff <(dpmf help) <(dpmf --help)
diff <(dpmf help) <(dpmf -h)
