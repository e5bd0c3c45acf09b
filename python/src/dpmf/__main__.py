"""``python -m dpmf`` and the command ``dpmf`` of a wheel: the program, which is beside the
module."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn, Optional


def program() -> Optional[str]:
    """The program that came with this package; in a package made without it, the one on the PATH,
    but never this command itself."""
    own = Path(__file__).resolve().parent / "bin" / "dpmf"
    if own.exists():
        return str(own)
    found = shutil.which("dpmf")
    if found is None:
        return None
    with open(found, "rb") as file:  # a script that runs this module would run itself for ever
        return found if file.read(2) != b"#!" else None


def main() -> NoReturn:
    """Replaces this process by the program, with the same arguments, so that signals and exit
    statuses are the program's."""
    path = program()
    if path is None:
        print("dpmf: error: this package was built without the program\n"
              "  install the program dpmf, or a wheel that has it", file=sys.stderr)
        sys.exit(4)
    os.execv(path, ["dpmf", *sys.argv[1:]])


if __name__ == "__main__":
    main()
