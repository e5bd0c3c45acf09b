"""Long calls of the library: how they are started, watched and ended.

The library works in a thread of its own while the thread that called waits in Python. So other
Python threads continue, a KeyboardInterrupt arrives at once and ends the work cleanly, and the
progress callback runs in the thread that called, as any other code of the caller's.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any, Callable, NamedTuple, Optional

from ._native import ffi, lib
from .errors import check, new_error, rendered, warn

PROGRESS_SECONDS = 0.1  # between two reports of one phase
WAIT_SECONDS = 0.2  # until one looks again whether the other side still lives


class Epoch(NamedTuple):
    """What is known after an epoch of training."""

    epoch: int  #: from 1
    seconds: float  #: since training began
    updates_per_second: float
    train_rmse: float
    valid_rmse: float  #: NaN without a validation set


class Progress(NamedTuple):
    """What a progress callback receives: the progress of the work."""

    phase: str  #: "reading", "sorting", "training", ...; "epoch" when one has ended
    unit: str  #: what is counted
    done: int
    total: int  #: 0 when it is not known
    ratings: int  #: handled so far in this phase; 0 when that is not counted
    epoch: Optional[Epoch] = None  #: the epoch that has ended, if one has


ProgressCallback = Callable[[Progress], Any]


def cores() -> int:
    """How many threads work where nobody says: as many as the library would use."""
    machine, error = ffi.new("struct dpmf_machine *"), new_error()
    check(lib.dpmf_machine_describe(machine, error), error)
    return int(machine.cores)


class _Call:
    """Something that the thread which called is to do, and what came of it."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do = do
        self.done = threading.Event()
        self.stop = False


class Run:
    """How much of the machine a call may use, and who is informed of its progress."""

    def __init__(self, n_threads: int = 0, memory: int = 0, shown: Any = None,
                 replace: bool = False) -> None:
        """`shown` has a `callback` for progress, or None, and is closed after every call; `replace`
        lets outputs replace releases and files of other kinds."""
        error = new_error()
        check(lib.dpmf_machine_check(error), error)  # DPMF_CORES and the like
        self.epochs: list[Epoch] = []
        self.total_epochs = 0
        self.trials: list[Any] = []  #: copies of the library's, of a search
        self._shown = shown
        self._progress: ProgressCallback | None = None if shown is None else shown.callback
        self._before_spending: Callable[[Any], None] | None = None
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._warnings: list[str] = []
        self._failure: BaseException | None = None
        self._last_phase = ""
        self._last_time = 0.0
        self.handle = ffi.new_handle(self)  # lives as long as this object
        self.pointer = ffi.new("struct dpmf_run *")
        lib.dpmf_run_init(self.pointer, ffi.sizeof("struct dpmf_run"))
        self.pointer.threads = n_threads
        self.pointer.memory = memory
        self.pointer.replace = replace
        self.pointer.progress = lib.dpmf_py_progress
        self.pointer.warn = lib.dpmf_py_warn
        self.pointer.progress_self = self.handle
        self.pointer.warn_self = self.handle

    def before_spending(self, look: Callable[[Any], None]) -> Any:
        """Has `look` called with the report of a private run, in the thread that calls, before
        anything is spent; what it raises ends the run. @return the callback for the library"""
        self._before_spending = look
        return lib.dpmf_py_before_spending

    # ---- the thread that calls -------------------------------------------------------------------

    def call(self, function: Callable[..., int], *arguments: Any,
             names: dict[str, str] | None = None, then: Callable[[], None] | None = None) -> int:
        """Calls a function of the library with these arguments and an error, and waits for it. When
        it went well, `then` is called in the library's thread, where no interrupt arrives; what
        was raised in the meantime is raised afterwards."""
        error = new_error()
        codes: list[int] = []
        # the end of an earlier call may not be taken for this one's
        self._calls = queue.SimpleQueue()

        def work() -> None:
            try:
                codes.append(function(*arguments, error))
                if codes[0] >= 0 and then is not None:
                    then()
            except BaseException as failure:  # a bug in the binding: told where it can be seen
                self._failure = self._failure or failure
            finally:
                self._calls.put(None)

        thread = threading.Thread(target=work, name="dpmf")
        try:
            thread.start()
        except BaseException as failure:
            self._failure = self._failure or failure
        is_over = False
        while not is_over:
            try:
                while thread.is_alive():
                    self._tell_next(thread)
                is_over = True
            except BaseException as failure:  # KeyboardInterrupt above all: the work is ended first
                self._failure = self._failure or failure
        try:
            if self._shown is not None:
                self._shown.close()
            self._give_warnings()
        except BaseException as failure:
            self._failure = self._failure or failure
        if self._failure is not None:
            raise self._failure
        return check(codes[0], error, names)

    def _give_warnings(self) -> None:
        while self._warnings:
            warn(self._warnings.pop(0))

    def _tell_next(self, thread: threading.Thread) -> None:
        try:
            call = self._calls.get(timeout=WAIT_SECONDS)
        except queue.Empty:
            return
        if call is None:
            thread.join()
            return
        try:
            call.stop = call.do() is False
        except BaseException:
            call.stop = True  # known before the library's thread continues
            raise
        finally:
            call.done.set()

    # ---- the library's threads -------------------------------------------------------------------

    def _have_done(self, do: Callable[[], Any]) -> bool:
        """Has the calling thread do it. @return whether to continue"""
        if self._failure is None:
            call = _Call(do)
            self._calls.put(call)
            while not call.done.wait(WAIT_SECONDS) and self._failure is None:
                pass
            if call.stop:
                return False
        return self._failure is None

    def _ask(self, progress: Progress) -> bool:
        """Has the calling thread tell of it. @return whether to continue"""
        tell = self._progress
        return self._failure is None if tell is None else self._have_done(lambda: tell(progress))

    def on_before_spending(self, report: Any) -> bool:
        look = self._before_spending

        def tell() -> None:
            self._give_warnings()
            if look is not None:
                look(report)

        return self._have_done(tell)

    def on_progress(self, progress: Any) -> bool:
        phase = ffi.string(progress.phase).decode()
        now = time.monotonic()
        if phase == self._last_phase and now - self._last_time < PROGRESS_SECONDS:
            return self._failure is None
        self._last_phase, self._last_time = phase, now
        self._ask(Progress(phase, ffi.string(progress.unit).decode(), progress.done,
                           progress.total, progress.ratings))
        return self._failure is None

    def on_epoch(self, c: Any) -> bool:
        epoch = Epoch(c.epoch, c.seconds, c.updates_per_second, c.train_rmse, c.valid_rmse)
        self.epochs.append(epoch)
        return self._ask(Progress("epoch", "epochs", epoch.epoch, self.total_epochs, 0, epoch))

    def on_trial(self, c: Any) -> bool:
        self.trials.append(ffi.new("struct dpmf_trial *", c[0])[0])
        return self._failure is None

    def on_warn(self, message: Any) -> None:
        self._warnings.append(rendered(message))

    def on_failure(self, failure: BaseException) -> None:
        self._failure = self._failure or failure


# What the library calls. An exception must not get lost on the way through C: it ends the run.


def _ask(handle: Any, method: Callable[[Run, Any], bool], what: Any) -> int:
    run: Run = ffi.from_handle(handle)
    try:
        return 0 if method(run, what) else 1
    except BaseException as failure:
        run.on_failure(failure)
        return 1


@ffi.def_extern()
def dpmf_py_progress(handle: Any, progress: Any) -> int:
    return _ask(handle, Run.on_progress, progress)


@ffi.def_extern()
def dpmf_py_epoch(handle: Any, epoch: Any) -> int:
    return _ask(handle, Run.on_epoch, epoch)


@ffi.def_extern()
def dpmf_py_trial(handle: Any, trial: Any) -> int:
    return _ask(handle, Run.on_trial, trial)


@ffi.def_extern()
def dpmf_py_before_spending(handle: Any, report: Any) -> int:
    return _ask(handle, Run.on_before_spending, report)


@ffi.def_extern()
def dpmf_py_warn(handle: Any, message: Any) -> None:
    run: Run = ffi.from_handle(handle)
    try:
        run.on_warn(message)
    except BaseException as failure:
        run.on_failure(failure)
