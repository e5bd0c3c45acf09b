# The names that scripts read come first, in this order.
dpmf bench --factors 8,33 --threads 1,2 --ratings 20000 --users 200 --items 300 --seconds 0 --json
