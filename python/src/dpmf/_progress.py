"""Progress that is shown when nobody gave a callback: in notebooks and on terminals.

tqdm draws it where it is installed; otherwise it is one plain line on standard error. Elsewhere (in
a script whose output goes to a file, in tests) nothing is shown.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any, Optional

from ._run import Progress, ProgressCallback
from ._values import shown
from .errors import usage

WIDTH = 79
PATIENCE = 0.5  # seconds of a phase before it gets a bar


def _in_notebook() -> bool:
    """Whether the code runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _is_watched() -> bool:
    """Whether someone looks at standard error."""
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _text_of(progress: Progress) -> str:
    """What is known, for people, but for the phase and how much is done."""
    epoch = progress.epoch
    if epoch is None:
        return ""
    parts = []
    if epoch.train_rmse == epoch.train_rmse:  # not NaN
        parts.append(f"train {epoch.train_rmse:.4f}")
    if epoch.valid_rmse == epoch.valid_rmse:
        parts.append(f"valid {epoch.valid_rmse:.4f}")
    return ", ".join(parts)


class Plain:
    """One line on standard error, written over again."""

    def __init__(self, stream: Any = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._length = 0

    def __call__(self, progress: Progress) -> None:
        share = f" {100 * progress.done // progress.total} %" if progress.total else ""
        counted = f" {progress.done:,}" if progress.done else ""
        of = f" of {progress.total:,}" if progress.total else ""
        text = _text_of(progress)
        self._write(f"{progress.phase}{counted}{of} {progress.unit}{share}" +
                    (f": {text}" if text else ""))

    def _write(self, line: str) -> None:
        line = line[:WIDTH]
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)

    def close(self) -> None:
        if self._length:
            self._stream.write("\r" + " " * self._length + "\r")
            self._stream.flush()
            self._length = 0


class Bars:
    """tqdm's bar, one for each phase, gone when it has ended. A notebook without widgets keeps a
    line of every bar that there was, so a phase that is over at once gets none.
    """

    def __init__(self, make: Any, patience: float = PATIENCE) -> None:
        self._make = make
        self._patience = patience
        self._bar: Any = None
        self._phase = ""
        self._begun = 0.0

    def __call__(self, progress: Progress) -> None:
        # The report of an epoch belongs to the training that goes on after it.
        phase = "training" if progress.epoch is not None else progress.phase
        if phase != self._phase:
            self.close()
            self._phase, self._begun = phase, time.monotonic()
        if self._bar is None:
            if time.monotonic() - self._begun < self._patience:
                return
            self._bar = self._make(total=progress.total or None, unit=f" {progress.unit}",
                                   desc=phase, leave=False, unit_scale=True,
                                   initial=progress.done)
        self._bar.update(progress.done - self._bar.n)
        text = _text_of(progress)
        if text:
            self._bar.set_postfix_str(text)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._phase = None, ""


def _drawn() -> Any:
    try:
        # tqdm.auto warns in a notebook that has no widgets, at whoever imports it first.
        if _in_notebook() and importlib.util.find_spec("ipywidgets") is not None:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
        else:
            from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return Plain()
    return Bars(tqdm)


class Shown:
    """Who is told of progress, for the length of a call: `with Shown(setting) as callback`."""

    def __init__(self, setting: Any) -> None:
        self._callback: Optional[ProgressCallback] = None
        self._own: Any = None
        if setting is None or isinstance(setting, bool):
            if setting or (setting is None and _is_watched()):
                self._callback = self._own = _drawn()
        elif callable(setting):
            self._callback = setting
        else:
            raise usage(f"progress={shown(setting)} is not a function, True, False or None",
                        "for example: progress=False, which shows nothing")

    @property
    def callback(self) -> Optional[ProgressCallback]:
        return self._callback

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
