dpmf bench --factors 16,,64
