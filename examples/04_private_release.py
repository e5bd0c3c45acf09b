"""Publishing: item vectors that say little about any one person, with a statement of what was
proven. What the ratings may not tell is declared: the list of all items, and the range of ratings.

    dpmf ledger init ledger   # once
    python3 04_private_release.py ratings.csv titles.csv release.safetensors
"""

import sys

import dpmf


def main(ratings, catalogue, output):
    # that of dpmf ledger init, or of dpmf.init_ledger; None is the user's own
    model = dpmf.Model(epsilon=2, rating_range=(1, 5), catalogue=catalogue, ledger="ledger")
    model.fit_file(ratings)
    model.save(output)

    promise = dpmf.load(output).privacy_  # verified, as whoever gets the file can
    print(f"epsilon {promise['epsilon']:g} at delta {promise['delta']:g}")
    print(promise.text.split("\n\n")[0])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: 04_private_release.py RATINGS CATALOGUE RELEASE")
    main(*sys.argv[1:])
