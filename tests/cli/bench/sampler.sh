dpmf bench --solver sgld --factors 8,33 --threads 1 --ratings 20000 --users 200 --items 300 \
    --seconds 0 --json
dpmf bench --solver sghmc --factors 8 --threads 2 --ratings 20000 --users 200 --items 300 \
    --seconds 0
for solver in gibbs als; do
    dpmf bench --solver $solver --ratings 20000 --users 200 --items 300 --seconds 0
    echo "$?"
done
