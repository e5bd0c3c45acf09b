"""dpmf: a private recommender engine.

`Model` fits ratings, in the open or with differential privacy, and recommends; `load` opens what was
fitted. People at home need a public release and ratings of their own:
``dpmf.load(path).fold_in(ratings).recommend()``.
"""

from ._native import ffi as _ffi
from ._native import lib as _lib
from ._ledger import init_ledger
from ._run import Epoch, Progress
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .model import Model, load
from .statement import PrivacyStatement
from .user import Explanation, Recommendations, User

__version__: str = _ffi.string(_lib.dpmf_version()).decode()

__all__ = [
    "Epoch",
    "Explanation",
    "Model",
    "PrivacyStatement",
    "Progress",
    "Recommendations",
    "User",
    "init_ledger",
    "load",
    *_errors,
]
