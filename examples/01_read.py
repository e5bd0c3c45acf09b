"""Ratings in, a model out: a file in any format, compressed or not."""
import sys

import dpmf

model = dpmf.Model(n_epochs=1).fit_file(sys.argv[1])
low, high = model.rating_range_
print(f"{len(model.users_)} users, {len(model.items_)} items, from {low:g} to {high:g}")
