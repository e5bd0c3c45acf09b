dpmf bench --factors 16,5000
