"""What a private release promises."""

from __future__ import annotations

import json
from typing import Any, Optional

from ._native import ffi, lib
from .errors import PrivacyRefused


class PrivacyStatement(dict[str, Any]):
    """The privacy statement of a release, whose digest matches and whose arithmetic holds.

    A dict with the fields of docs/formats/release.md, such as ``epsilon``, ``delta``, ``mechanism``
    and ``releases``; `text` is the same for people.
    """

    text: str

    def __init__(self, fields: dict[str, Any], text: str, registry: Optional[str] = None) -> None:
        super().__init__(fields)
        self.text = text
        self._registry = registry

    @classmethod
    def take(cls, statement: Any) -> PrivacyStatement:
        """Out of a struct dpmf_statement, which is freed."""
        try:
            return cls(json.loads(ffi.string(statement.json).decode("utf-8")),
                       ffi.string(statement.text).decode("utf-8"),
                       None if statement.registry == ffi.NULL
                       else ffi.string(statement.registry).decode("utf-8"))
        finally:
            lib.dpmf_statement_free(statement)

    @property
    def kind(self) -> str:
        """What may be claimed: "proven", "conditional", "partial" or "not private"."""
        return str(self["kind"])

    @property
    def assumptions(self) -> dict[str, str]:
        """What the promise rests on besides the proof: a name and a sentence each."""
        return {one["name"]: one["sentence"] for one in self["assumptions"]}

    @property
    def is_private(self) -> bool:
        """False for a file that was made for tests or research: it must not be published."""
        return self.kind in ("proven", "conditional", "partial")

    @property
    def is_proven(self) -> bool:
        """False, too, where the promise rests on something that dpmf cannot check."""
        return self.kind == "proven"

    @property
    def declared(self) -> dict[str, str]:
        """What the curator declared, in their own words: dpmf has verified none of it."""
        return {name: text for name, text in self.get("about", {}).items() if name != "note"}

    @property
    def registry(self) -> str:
        """An entry for the public registry of deployments, in YAML; refused for a release that is
        NOT PRIVATE."""
        if self._registry is None:
            raise PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED,
                                 "this release is NOT PRIVATE: there is nothing to register",
                                 "make it without insecure_noise_seed")
        return self._registry

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivacyStatement, (dict(self), self.text, self._registry)

    def __repr__(self) -> str:
        if not self.is_private:
            return "<PrivacyStatement: NOT PRIVATE>"
        promise = f"epsilon {self['epsilon']:g}"
        if self["delta"]:
            promise += f" at delta {self['delta']:g}"
        promise += " for every user"
        if not self.is_proven:
            promise += f", {self.kind}, not proven"
        return f"<PrivacyStatement: {promise}, {self['mechanism']}>"

    def __str__(self) -> str:
        return self.text
