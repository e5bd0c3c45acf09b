"""The page of a release, which recommends in people's browsers: `serve` and `export_web`. Both are
the program's, which comes with the package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import IO, Any, Optional, Union

from .__main__ import program
from ._native import lib
from ._values import flag, path_bytes, text_bytes, whole
from .errors import (DpmfError, DpmfWarning, FileError, InputError, MissingFileError,
                     PrivacyRefused, UsageError, warn)
from .model import Model

PathLike = Union[str, Path]

# By the program's exit status. It says what happened in words, and no code.
_CLASSES = {2: UsageError, 3: InputError, 4: FileError, 6: PrivacyRefused}


def _find_program() -> str:
    path = program()
    if path is None:
        raise FileError(lib.DPMF_ERR_IO_MISSING, "this package was built without the program",
                        "install the program dpmf, or a wheel that has it")
    return path


def _in_python(text: str) -> str:
    """Options as parameters."""
    return re.sub(r"--([a-z]+)", r"\1=", text)


def _tell(said: str) -> list[str]:
    """Passes the program's warnings on. @return what else it said, line by line"""
    rest = []
    for line in said.splitlines():
        begin, _, words = line.partition("dpmf: warning: ")
        if begin == "" and words:
            warn(_in_python(words), DpmfWarning)
        else:
            rest.append(line)
    return rest


def _failure(status: int, said: str) -> DpmfError:
    lines = [line.strip() for line in _tell(said) if line.strip()]
    message = lines[0] if lines else f"the program ended with status {status}"
    kind: type[DpmfError] = _CLASSES.get(status, DpmfError)
    return kind(0, _in_python(message.replace("dpmf: error: ", "", 1)),
                _in_python("\n  ".join(lines[1:])))


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()


class Server:
    """A page that is being served, until `stop`, the end of a ``with``, or that of this process."""

    url: str  #: where it is
    port: int  #: which port that is

    def __init__(self, arguments: list[bytes], keep: Any) -> None:
        self._keep = keep
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=self._said,
                                         stdin=subprocess.DEVNULL, encoding="utf-8")
        self.stop = weakref.finalize(self, _stop, self._process)
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise _failure(self._process.wait(), _read(self._said))
        found = json.loads(line)
        self.url, self.port = found["url"], found["port"]
        _tell(_read(self._said))

    def wait(self) -> None:
        """Waits until it ends by itself, or is interrupted: then it is stopped."""
        try:
            self._process.wait()
        finally:
            self.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_reason: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "" if self._process.poll() is None else ", which has ended"
        return f"<Server of {self.url}{state}>"


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


class _Release:
    """The release as a file: one that is given, or that of a fitted model, for as long as this
    lives."""

    def __init__(self, release: Union[PathLike, Model]) -> None:
        self.path = b""
        if not isinstance(release, Model):
            self.path = path_bytes(release)
            if not os.path.exists(self.path):
                raise MissingFileError(lib.DPMF_ERR_IO_MISSING, "", "", os.fsdecode(self.path))
            return
        self._folder = tempfile.TemporaryDirectory(prefix="dpmf-page-")
        path = Path(self._folder.name) / "release.safetensors"
        release.save(path)
        self.path = os.fsencode(path)


def _page_options(catalogue: Optional[PathLike], name: Optional[str], colour: Optional[str],
                  logo: Optional[PathLike], covers: Optional[PathLike],
                  links: Optional[PathLike]) -> list[bytes]:
    options = []
    for option, text in (("name", name), ("colour", colour)):
        if text is not None:
            options += [f"--{option}".encode(), text_bytes(option, text)]
    for option, path in (("catalogue", catalogue), ("logo", logo), ("covers", covers),
                         ("links", links)):
        if path is not None:
            options += [f"--{option}".encode(), path_bytes(path)]
    return options


def serve(release: Union[PathLike, Model], *, port: int = 8080, address: str = "127.0.0.1",
          catalogue: Optional[PathLike] = None, name: Optional[str] = None,
          colour: Optional[str] = None, logo: Optional[PathLike] = None,
          covers: Optional[PathLike] = None, links: Optional[PathLike] = None) -> Server:
    """Serves the page of a release, as ``dpmf serve`` does, beside this process.

    Everyone who opens `Server.url` gets recommendations in their own browser, and sends nothing.
    `release` is a file or a fitted model; what may not be published is refused. `port` 0 finds a
    free one; only this machine can reach the default `address`. `catalogue` is a table of items and
    titles, which are published with the page; the rest is its look (docs/page.md).
    """
    file = _Release(release)
    where = [b"--port", str(whole("port", port, 0, 65535)).encode(), b"--address",
             text_bytes("address", address)]
    return Server([os.fsencode(_find_program()), b"serve", file.path, b"--json", *where,
                   *_page_options(catalogue, name, colour, logo, covers, links)], file)


def export_web(release: Union[PathLike, Model], folder: PathLike, *,
               catalogue: Optional[PathLike] = None, name: Optional[str] = None,
               colour: Optional[str] = None, logo: Optional[PathLike] = None,
               covers: Optional[PathLike] = None, links: Optional[PathLike] = None,
               replace: bool = False) -> dict[str, Any]:
    """Writes the page of a release to a folder, as ``dpmf export --web`` does: it works from the
    disk and from any web server. A page that is there already needs `replace`.

    @return ``items``, ``titles``, ``bytes_written`` and ``url``.
    """
    file = _Release(release)
    options = _page_options(catalogue, name, colour, logo, covers, links)
    if flag("replace", replace):
        options.append(b"--replace")
    done = subprocess.run([os.fsencode(_find_program()), b"export", file.path, b"--web",
                           path_bytes(folder), b"--json", b"-q", *options], capture_output=True,
                          encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        raise _failure(done.returncode, done.stderr)
    _tell(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    return {key: found[key] for key in ("items", "titles", "bytes_written", "url")}
