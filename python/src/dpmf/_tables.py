"""The small public tables of a private run: from Python objects to files that the library reads.

Lists, arrays, series, dicts and frames are read as what they are. What cannot be understood is
refused, by its shape and the names of its columns, before any rating is read.
"""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

import numpy as np

from ._frames import (Frame, check_lengths, frame_of, frame_of_dict, ids_of, is_column, role_of,
                      values_of)
from ._ids import id_bytes, refuse_id
from ._native import lib
from ._values import encoded, float_of, is_path, is_writable, path_bytes
from .errors import InputError, PrivacyRefused, PrivacyWarning, UsageError, told, usage, warn


def file_of(value: Any, path: Path, write: Callable[[Any, Any], None]) -> bytes:
    """The name of a file that was given, or of one that is made of what was given."""
    if is_path(value):
        return path_bytes(value)
    with told("write", str(path), lib.DPMF_ERR_IO_WRITE):
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            write(value, csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n"))
    return os.fsencode(path)


def _id_text(name: str, value: Any) -> str:
    """The id as text. What is not an id is not shown: it could be a person's, given in the wrong
    place."""
    text = id_bytes(value)
    if text is None:
        raise refuse_id(name, value, is_private=True)
    if b"\n" in text:
        raise InputError(lib.DPMF_ERR_INPUT_ID, f"{name} holds a line feed",
                         "a row of these tables is a line: rename it, or leave it out")
    return text.decode("utf-8", "surrogateescape")


def _the_column(frame: Frame, what: str, places: list[int], named: str) -> Any:
    """The one column that is meant."""
    if len(places) == 1:
        return frame.column(places[0])
    how = "none" if not places else str(len(places))
    raise InputError(lib.DPMF_ERR_INPUT_HEADER,
                     f"{how} of the {len(frame.names)} columns of {what} could be {named}",
                     f"call one column {named}, or give it by itself")


def _is_epsilon(name: str) -> bool:
    return name.strip().lower() in ("epsilon", "eps")


# ---- catalogues --------------------------------------------------------------------------------


def _refuse_shape(value: Any) -> UsageError:
    return usage(f"catalogue is a {type(value).__name__}, which is no list of items",
                 "give a list of all items, a frame with a column of them, or a file")


def _refuse_people(names: Iterable[Any]) -> None:
    """A table about people is not a catalogue; only its column names decide, as for headers of
    files."""
    for name in names:
        if not isinstance(name, str) or name.strip().lower().startswith("public:"):
            continue
        if role_of(name) in ("user", "person", "rating") or _is_epsilon(name):
            raise PrivacyRefused(
                lib.DPMF_ERR_PRIVACY_REFUSED,
                "a column of the catalogue could hold people or what they did: this is no public "
                "table of items",
                'give the items alone; if the column holds no people, put "public:" before its name'
            )


def _catalogue_of_frame(value: Any, frame: Frame) -> list[Any]:
    """The column of items or, where it has that name, the index of the frame."""
    places = frame.places("item")
    index = getattr(value, "index", None)
    name = getattr(index, "name", None)
    _refuse_people([*frame.names, name])
    if not places and isinstance(name, str) and role_of(name) == "item":
        return ids_of(index)
    return ids_of(_the_column(frame, "catalogue", places, "item"))


def _catalogue_of_dict(catalogue: Mapping[Any, Any]) -> list[Any]:
    """Columns by their names, or items with something about each."""
    frame = frame_of_dict(catalogue)
    return list(catalogue) if frame is None else _catalogue_of_frame(catalogue, frame)


def catalogue_items(catalogue: Any) -> list[Any]:
    """The items of a list, an array, a series, a dict or a frame."""
    if isinstance(catalogue, Mapping):
        return _catalogue_of_dict(catalogue)
    frame = frame_of(catalogue)
    if frame is not None:
        return _catalogue_of_frame(catalogue, frame)
    if getattr(catalogue, "ndim", 1) != 1:
        raise usage(f"catalogue has {catalogue.ndim} dimensions, and a list of items has one")
    if not isinstance(catalogue, Iterable) and not is_column(catalogue):
        raise _refuse_shape(catalogue)
    _refuse_people([getattr(catalogue, "name", None)])  # of a series
    return ids_of(catalogue)


def write_catalogue(catalogue: Any, table: Any) -> None:
    table.writerow(["item"])
    for place, item in enumerate(catalogue_items(catalogue)):
        table.writerow([_id_text(f"catalogue[{place}]", item)])


# ---- wishes ------------------------------------------------------------------------------------


def _epsilon_places(frame: Frame) -> list[int]:
    return [place for place, name in enumerate(frame.names) if _is_epsilon(name)]


def _names_user(index: Any) -> bool:
    name = getattr(index, "name", None)
    return isinstance(name, str) and role_of(name) == "user"


def _wishes_of_frame(frame: Frame, index: Any = None) -> list[tuple[Any, Any]]:
    """The users are a column or, where it has that name, the index of the frame; never both."""
    places = frame.places("user")
    if _names_user(index) and places:
        raise InputError(lib.DPMF_ERR_INPUT_HEADER,
                         "a column of user_privacy and its index could both be user",
                         "keep one of them, as frame.reset_index(drop=True) does")
    users = (index if _names_user(index) else
             _the_column(frame, "user_privacy", places, "user"))
    epsilons = _the_column(frame, "user_privacy", _epsilon_places(frame), "epsilon")
    ids, wishes = ids_of(users), values_of(epsilons)
    check_lengths("user_privacy", ids, wishes)
    return list(zip(ids, wishes))


def _users_of_index(index: Any) -> list[Any]:
    """The users that a series has its epsilons by."""
    users = ids_of(index)
    if _names_user(index):
        return users
    how = ('give the frame with both columns, or frame.set_index("user")["epsilon"]; where the '
           'index is users, name it so: series.rename_axis("user")')
    if getattr(index, "name", None) is not None or getattr(index, "nlevels", 1) > 1:
        raise usage("the index of the series user_privacy is not named as users are", how)
    # Rows keep their numbers when a frame is filtered or sorted, so any nameless numbers may be
    # rows.
    if not all(isinstance(user, (str, bytes)) for user in users):
        raise usage("the series user_privacy is numbered by its rows, and not by users", how)
    return users


def _wishes(wishes: Any) -> list[tuple[Any, Any]]:
    """Users and epsilons, of a dict, a frame with both, or a series of epsilons by user."""
    if isinstance(wishes, Mapping):
        frame = frame_of_dict(wishes)
        return list(wishes.items()) if frame is None else _wishes_of_frame(frame)
    frame = frame_of(wishes)
    if frame is not None:
        return _wishes_of_frame(frame, getattr(wishes, "index", None))
    if hasattr(wishes, "index") and hasattr(wishes, "to_numpy"):  # a series of pandas
        return list(zip(_users_of_index(wishes.index), values_of(wishes)))
    raise usage(
        "user_privacy is a dict of users and epsilons, a frame with these columns, or a file")


def write_wishes(wishes: Any, table: Any) -> None:
    """Errors do not say whose wish is at fault: messages of a private run never contain people's
    ids."""
    table.writerow(["user", "epsilon"])
    rows = _wishes(wishes)
    # a stream that was read before looks like this
    if not rows and not isinstance(wishes, Mapping):
        warn("user_privacy names nobody", PrivacyWarning)
    for user, epsilon in rows:
        wish = float_of(epsilon)
        if wish is None:
            raise usage(f"an epsilon of user_privacy is a {type(epsilon).__name__}, not a number")
        table.writerow([_id_text("a user of user_privacy", user), repr(wish)])


# ---- features ----------------------------------------------------------------------------------


def _cell(value: Any, what: str) -> str:
    is_nan = isinstance(value, (float, np.floating)) and math.isnan(value)
    if value is None or is_nan:
        return ""
    if not isinstance(value, (str, bool, int, float, np.number, np.bool_)):
        raise usage(f"{what} has a {type(value).__name__}, which is neither text nor a number",
                    'several categories are one text: "comedy|drama"')
    if isinstance(value, int) and not is_writable(value):
        raise usage(f"{what} has a whole number of too many digits")
    text = str(value)
    if "\0" in text:
        raise usage(f"{what} has a text with a NUL in it")
    if encoded(text) is None:
        raise usage(f"{what} has a text with half of a surrogate pair")
    return text


def _features_of_frame(frame: Frame, role: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    what = f"{role}_features"
    places = frame.places(role)
    ids = ids_of(_the_column(frame, what, places, role))
    others = [place for place in range(len(frame.names)) if place != places[0]]
    columns = [values_of(frame.column(place)) for place in others]
    check_lengths(what, ids, *columns)
    return [frame.names[place] for place in others], list(zip(ids, *columns))


def _features(features: Any, role: str) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """The names of features, and for each item or user a row of them."""
    frame = frame_of_dict(features) if isinstance(features, Mapping) else frame_of(features)
    if frame is not None:
        return _features_of_frame(frame, role)
    is_table = isinstance(features, Mapping) and all(
        isinstance(row, Mapping) for row in features.values())
    if not is_table:
        raise usage(
            f"{role}_features is a dict of {role}s and what is known about each, a frame, "
            "or a file",
            'for example: {"dune": {"genre": "sci-fi", "year": 1984}}')
    names = list(dict.fromkeys(name for row in features.values() for name in row))
    return names, [(id, *(row.get(name) for name in names)) for id, row in features.items()]


def _write_features(features: Any, table: Any, role: str) -> None:
    what = f"{role}_features"
    names, rows = _features(features, role)
    table.writerow([role, *(_cell(name, what) for name in names)])
    for id, *row in rows:
        table.writerow([_id_text(f"{'an item' if role == 'item' else 'a user'} of {what}", id),
                        *(_cell(value, what) for value in row)])


def write_features(features: Any, table: Any) -> None:
    _write_features(features, table, "item")


def write_user_features(features: Any, table: Any) -> None:
    _write_features(features, table, "user")


def feature_files(folder: Path, item_features: Any, user_features: Any) -> tuple[Any, Any]:
    """Tables of features as files; None for those that are not given."""
    items = users = None
    if item_features is not None:
        items = file_of(item_features, folder / "item_features", write_features)
    if user_features is not None:
        users = file_of(user_features, folder / "user_features", write_user_features)
    return items, users


# ---- declarations ------------------------------------------------------------------------------


def _declared(about: Any) -> bytes:
    if not isinstance(about, Mapping):
        raise usage(
            "about is a dict of names and texts, or a file",
            'for example: {"controller": "Example Library", "contact": "privacy@library.example"}')
    lines = []
    for name, text in about.items():
        if (not isinstance(name, str) or ":" in name or "\n" in name or
                not isinstance(text, (str, int, float))):
            raise usage("about has names and texts, and one of them is neither")
        # Further lines begin with a blank: none of them can be taken for a field.
        lines.append(f"{name}: " + "\n ".join(str(text).split("\n")))
    data = encoded("\n".join(lines) + "\n")
    if data is None:
        raise usage("about has a text with half of a surrogate pair")
    return data


def about_file(about: Any, path: Path) -> bytes:
    """The name of a file of declarations that was given, or of one that is made of a dict."""
    if is_path(about):
        return path_bytes(about)
    data = _declared(about)
    with told("write", str(path), lib.DPMF_ERR_IO_WRITE):
        path.write_bytes(data)
    return os.fsencode(path)
