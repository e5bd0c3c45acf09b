"""What a private release promises."""

from __future__ import annotations

import json
from typing import Any

from ._native import ffi, lib


class PrivacyStatement(dict[str, Any]):
    """The privacy statement of a release, whose digest fits and whose arithmetic holds.

    A dict with the fields of docs/formats/release.md, such as ``epsilon``, ``delta``, ``mechanism``
    and ``releases``. `text` is the same for people; `is_private` is False for a file that was made
    for tests or research and must not be published.
    """

    text: str
    is_private: bool

    def __init__(self, fields: dict[str, Any], text: str, is_private: bool) -> None:
        super().__init__(fields)
        self.text = text
        self.is_private = is_private

    @classmethod
    def take(cls, statement: Any) -> PrivacyStatement:
        """Out of a struct dpmf_statement, which is freed."""
        try:
            fields = json.loads(ffi.string(statement.json).decode("utf-8"))
            text = ffi.string(statement.text).decode("utf-8")
            return cls(fields, text, not (statement.is_insecure or statement.is_research))
        finally:
            lib.dpmf_statement_free(statement)

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivacyStatement, (dict(self), self.text, self.is_private)

    def __repr__(self) -> str:
        if not self.is_private:
            return "<PrivacyStatement: NOT PRIVATE>"
        return (f"<PrivacyStatement: epsilon {self['epsilon']:g} at delta {self['delta']:g} "
                f"for every user, {self['mechanism']}>")

    def __str__(self) -> str:
        return self.text
