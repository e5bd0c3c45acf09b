"""The ledger of what private releases have spent: making one, and budgets as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from ._native import ffi, lib
from ._values import number, path_bytes, text_bytes
from .errors import check, new_error


def budget(value: Union[float, str], accept_epsilon: bool = False) -> Any:
    """A mu, or an epsilon at a delta as in "5@1e-5", for the library; a large one if that is
    accepted."""
    text = value if isinstance(value, str) else repr(float(number("ledger_budget", value)))
    read = ffi.new("struct dpmf_budget *")
    error = new_error()
    check(lib.dpmf_budget_parse(text_bytes("ledger_budget", text), accept_epsilon, read, error),
          error)
    return read


def init_ledger(path: Union[str, Path, None] = None) -> None:
    """Makes an empty ledger, for the releases to come.

    Only this function makes a ledger at a path of its own: a mistyped path must not begin a second
    ledger that knows nothing of the first. The ledger in the usual place (None) is also made by the
    first release. A ledger that exists already is refused, unless it has no lock file because it
    was copied from another machine: then it is accepted as the newest copy.
    """
    error = new_error()
    check(lib.dpmf_ledger_init(ffi.NULL if path is None else path_bytes(path), ffi.NULL, error),
          error)


class LedgerEntry(NamedTuple):
    """A release, or another run, as a ledger records it."""

    id: str
    state: str  #: "reserved", "committed", "returned", "research" or "tuning"
    kind: str  #: what may be claimed of it: "proven", "conditional", "partial" or "not private"
    mu: float
    epsilon: float
    delta: float  #: 0 for a conditional release, and for other runs
    time: int  #: seconds since 1970
    users_since: Optional[str] = None  #: first day of the period of users' first records
    users_before: Optional[str] = None  #: first day after it
    complete_histories: bool = False  #: whether the curator declared that histories are complete


class Population(NamedTuple):
    """People whose budget is spent together, and what is spent of it."""

    name: str
    mu: float  #: all that is committed or reserved, composed exactly
    epsilon: float
    delta: float
    kind: str
    budget_mu: Optional[float]  #: None when no budget is set
    entries: tuple[LedgerEntry, ...]
    mu_in_full: float = 0.0  #: the same if releases of disjoint periods add up, too


_STATES = ("reserved", "committed", "returned", "research", "tuning")


class _Visit:
    """Collects what the library shows of a ledger."""

    def __init__(self) -> None:
        self.populations: list[Population] = []
        self.failure: Optional[BaseException] = None

    def take(self, c: Any, entry: Any) -> None:
        if entry == ffi.NULL:
            self.populations.append(Population(
                ffi.string(c.name).decode("utf-8", "replace"), c.mu, c.epsilon, c.delta,
                ffi.string(lib.dpmf_claim_name(c.claim)).decode(), c.budget.mu or None, (),
                c.mu_in_full))
            return
        made = LedgerEntry(
            ffi.string(entry.id).decode(), _STATES[entry.state],
            ffi.string(lib.dpmf_claim_name(entry.claim)).decode(), entry.mu, entry.epsilon,
            entry.delta, entry.time, ffi.string(entry.users_since).decode() or None,
            ffi.string(entry.users_before).decode() or None, bool(entry.complete_histories))
        last = self.populations[-1]
        self.populations[-1] = last._replace(entries=(*last.entries, made))


@ffi.def_extern()
def dpmf_py_ledger(handle: Any, population: Any, entry: Any) -> int:
    visit: _Visit = ffi.from_handle(handle)
    try:
        visit.take(population, entry)
        return 0
    except BaseException as failure:
        visit.failure = failure
        return 1


def _path(path: Union[str, Path, None]) -> Any:
    return ffi.NULL if path is None else path_bytes(path)


def read_ledger(path: Union[str, Path, None] = None,
                population: Optional[str] = None) -> list[Population]:
    """What every population of a ledger (None: your own) has spent, with its releases; or one
    population alone.

    >>> import dpmf, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> dpmf.init_ledger(folder.name + "/ledger")
    >>> dpmf.set_ledger_budget("readers", "5@1e-5", folder.name + "/ledger")
    >>> [(people.name, people.mu) for people in dpmf.read_ledger(folder.name + "/ledger")]
    [('readers', 0.0)]
    >>> folder.cleanup()
    """
    visit, error = _Visit(), new_error()
    handle = ffi.new_handle(visit)
    only = ffi.NULL if population is None else text_bytes("population", population)
    code = lib.dpmf_ledger_visit(_path(path), only, lib.dpmf_py_ledger, handle, error)
    if visit.failure is not None:
        raise visit.failure
    check(code, error)
    return visit.populations


def set_ledger_budget(population: str, budget_given: Union[float, str, None],
                      path: Union[str, Path, None] = None) -> None:
    """How much a population may spend in all: a mu, an epsilon at a delta ("5@1e-5"), or None for
    no limit."""
    bound = ffi.NULL if budget_given is None else budget(budget_given)
    error = new_error()
    check(
        lib.dpmf_ledger_set_budget(_path(path), text_bytes("population", population), bound,
                                   ffi.NULL, error), error)


def return_release(release_id: str, path: Union[str, Path, None] = None) -> None:
    """Gives back what was reserved for a release that was never published."""
    error = new_error()
    check(
        lib.dpmf_ledger_return(_path(path), text_bytes("release_id", release_id), ffi.NULL, error),
        error)
