"""The Python package: `pip install .` in this folder. Its sources are in python/; see
docs/python.md."""

import os
import re
import sys
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "python"))
import build_native  # noqa: E402

# The tree's version is CMake's.
VERSION = re.search(r"project\(dpmf VERSION ([0-9.]+)",
                    (ROOT / "CMakeLists.txt").read_text()).group(1)

# Nothing but build/ is written to, or another folder that is asked for.
BASE = Path(os.environ.get("DPMF_PYTHON_BUILD") or "build/python")
BASE.mkdir(parents=True, exist_ok=True)

# Only what carries the program has the command. A package of a distribution, which is linked with a
# shared library, has the program's package beside it, and may not install a second file of its
# name.
IS_WHOLE = not os.environ.get("DPMF_LIBRARY") or os.environ["DPMF_LIBRARY"].endswith(".a")
COMMANDS = ["dpmf = dpmf.__main__:main"] if IS_WHOLE else []

setup(
    version=VERSION,
    entry_points={"console_scripts": COMMANDS},
    ext_modules=[build_native.extension()],
    cmdclass={"build_ext": build_native.BuildNative},
    options={
        "build": {"build_base": str(BASE)},
        "egg_info": {"egg_base": str(BASE)},
        "bdist_wheel": {"py_limited_api": "cp39"},
    },
)
