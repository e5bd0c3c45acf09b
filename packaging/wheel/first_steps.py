"""What a new user does first, with nothing but the wheel: from a CSV file to a private release to
recommendations.

test.sh runs it in a clean virtual environment for each Python. With --no-commands it starts no
other program, which a Python under an emulator could not.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import dpmf


def try_commands(folder: Path) -> None:
    for command in ([sys.executable, "-m", "dpmf"], [str(Path(sys.executable).parent / "dpmf")]):
        said = subprocess.run([*command, "version"], capture_output=True, text=True,
                              check=True).stdout
        assert said == f"dpmf {dpmf.__version__}\n", said
        subprocess.run([*command, "privacy", "verify", "-q",
                        str(folder / "release.safetensors")], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "dpmf", "import", "-q", str(folder / "ratings.csv"), "-o",
                    str(folder / "ratings.dpr")], check=True)
    assert dpmf.describe(folder / "ratings.dpr")["ratings"] == 8000


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="dpmf-first-"))
    rng = np.random.default_rng(1)
    users, films = np.divmod(rng.permutation(500 * 40)[:8000], 40)
    with open(folder / "ratings.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["userId", "movieId", "rating"])
        table.writerows([f"u{user}", f"film {film}", 1 + (user + film) % 5]
                        for user, film in zip(users, films))

    ordinary = dpmf.Model(n_factors=8, n_epochs=5).fit_file(folder / "ratings.csv")
    assert len(ordinary.recommend("u1", n=3).items) == 3

    dpmf.init_ledger(folder / "ledger")
    release = dpmf.Model(epsilon=2, rating_range=[1, 5], catalogue=[f"film {i}" for i in range(40)],
                         ledger=folder / "ledger").fit_file(folder / "ratings.csv")
    release.save(folder / "release.safetensors")
    at_home = dpmf.load(folder / "release.safetensors")
    assert at_home.privacy_.kind == "proven"
    assert len(at_home.recommend(ratings={"film 3": 5, "film 4": 1}, n=3).items) == 3

    if sys.argv[1:] != ["--no-commands"]:
        try_commands(folder)
    print(
        f"Python {sys.version.split()[0]}, NumPy {np.__version__}: ratings to release to "
        "recommendations"
    )


if __name__ == "__main__":
    main()
