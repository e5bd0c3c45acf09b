# Epochs of implicit least squares; nothing is said of sgd.
dpmf bench --solver ials --factors 8,33 --threads 1,2 --ratings 20000 --users 200 --items 300 \
    --seconds 0 --json
dpmf bench --solver ials --factors 8 --threads 2 --ratings 20000 --users 200 --items 300 --seconds 0
dpmf bench --solver ials --factors 8 --threads 1 --ratings 20000 --users 200 --items 300 \
    --memory 1MiB
echo $?
