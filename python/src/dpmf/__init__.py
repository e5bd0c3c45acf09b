"""dpmf: a private recommender engine.

`Model` fits ratings, in the open or with differential privacy, and recommends; `load` opens what
was fitted. People at home need a public release and ratings of their own:
``dpmf.load(path).fold_in(ratings).recommend()``.
"""

from ._native import ffi as _ffi
from ._native import lib as _lib
from ._ledger import (LedgerEntry, Population, init_ledger, read_ledger, return_release,
                      set_ledger_budget)
from ._ratings import ImportReport, import_ratings
from ._release import extend_release, parent_release
from ._run import Epoch, Progress
from .data import Trial, Tuning, describe, split, synth, tune, write_csv
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .history import History, HistoryEntry
from .model import ItemVectors, Model, load
from .page import Server, export_web, serve
from .privacy import AuditFailed, account, audit, plan
from .statement import PrivacyStatement
from .user import Explanation, Recommendations, User

__version__: str = _ffi.string(_lib.dpmf_version()).decode()

__all__ = [
    "AuditFailed",
    "Epoch",
    "Explanation",
    "History",
    "HistoryEntry",
    "ImportReport",
    "ItemVectors",
    "LedgerEntry",
    "Model",
    "Population",
    "PrivacyStatement",
    "Progress",
    "Recommendations",
    "Server",
    "Trial",
    "Tuning",
    "User",
    "account",
    "audit",
    "describe",
    "export_web",
    "extend_release",
    "import_ratings",
    "init_ledger",
    "load",
    "parent_release",
    "plan",
    "read_ledger",
    "return_release",
    "serve",
    "set_ledger_budget",
    "split",
    "synth",
    "tune",
    "write_csv",
    *_errors,
]
