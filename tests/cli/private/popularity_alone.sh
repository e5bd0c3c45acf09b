# A release of events that is popularity alone says so wherever it is looked at: by the rule, which
# few people leave no choice, and by the users' vote, where nothing goes together
quietly() {
    grep -v -e 'NOT PRIVATE' -e '^events:' -e 'exactly the set' -e ' kB$' |
        sed 's/with [0-9]* factors/with factors/; s/counts [0-9.]* beside/counts so much beside/'
}
seq 0 199 | sed '1i item' >items.csv
awk 'BEGIN { x = 7; print "user,item"; for (n = 0; n < 60000; n++) {
    x = x * 16807 % 2147483647; print int(n / 15) "," int(200 * (x / 2147483647) ^ 2.5) } }' \
    >plays.csv
head -n 301 plays.csv >few.csv
release() {
    dpmf train "$1" --epsilon "$2" --catalogue items.csv --insecure-noise-seed 1 -o "$3" --json \
        2>err |
        grep -o '"popularity_alone":[a-z]*'
    quietly <err
    dpmf describe "$3" | quietly
    dpmf describe "$3" --json | grep -o '"popularity_alone":[a-z]*'
    dpmf privacy show "$3" | grep -A1 'Both are popularity'
}
release few.csv 1 few.safetensors
release plays.csv 10 plays.safetensors
release plays.csv 1 taste.safetensors

echo "== what is similar"
alike() { dpmf similar "$@" 2>&1 | quietly; }
alike few.safetensors --item 3
alike taste.safetensors --item 3 -n 100 | grep -o '^dpmf: warning: [0-9]* noisy factors tell'
alike taste.safetensors --item 3 -n 1 --json | grep -c '"by_chance":[0-9]'
