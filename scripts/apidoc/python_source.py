"""Reads the Python package's sources, without importing them: what __all__ names, its signatures
and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional


@dataclass
class Thing:
    """A class, function, method, property or field that is public."""

    kind: str  # "class", "exception", "function", "method", "property", "field"
    name: str
    signature: str
    text: str
    place: str
    members: list["Thing"] = field(default_factory=list)


@dataclass
class Package:
    text: str
    things: list[Thing]


def docstring(node: ast.AST) -> str:
    return inspect.cleandoc(ast.get_docstring(node, clean=False) or "")


def public_names(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [item.value for item in node.value.elts if isinstance(item, ast.Constant)]
    return []


def signature(node: ast.FunctionDef, name: str) -> str:
    """As one would call it: without self and without types, which the text tells of."""
    arguments = node.args
    texts = [argument.arg for argument in arguments.args]
    defaults = [None] * (len(texts) - len(arguments.defaults)) + list(arguments.defaults)
    shown = [text if value is None else f"{text}={ast.unparse(value)}"
             for text, value in zip(texts, defaults) if text not in ("self", "cls")]
    if arguments.kwonlyargs:
        shown.append("*")
        shown += [argument.arg if value is None else f"{argument.arg}={ast.unparse(value)}"
                  for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        shown.append(f"**{arguments.kwarg.arg}")
    return f"{name}({', '.join(shown)})"


def fields(node: ast.ClassDef, source: list[str], place: str) -> list[Thing]:
    """Annotated names, whose text is the #: on their line or, of a named tuple, the class's own."""
    made = []
    for item in node.body:
        if not isinstance(item, ast.AnnAssign) or item.target.id.startswith("_"):
            continue
        _, _, text = source[item.lineno - 1].partition("#:")
        kind = ast.unparse(item.annotation)
        made.append(Thing("field", item.target.id, f"{item.target.id}: {kind}", text.strip(),
                          f"{place}:{item.lineno}"))
    return made


def members(node: ast.ClassDef, place: str) -> list[Thing]:
    made = []
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name.startswith("_"):
            continue
        decorators = {ast.unparse(each) for each in item.decorator_list}
        if "classmethod" in decorators:  # made for the package itself
            continue
        kind = "property" if "property" in decorators else "method"
        shown = item.name if kind == "property" else signature(item, item.name)
        made.append(Thing(kind, item.name, shown, docstring(item), f"{place}:{item.lineno}"))
    return made


def thing(node: ast.AST, source: list[str], place: str) -> Thing:
    where = f"{place}:{node.lineno}"
    if isinstance(node, ast.FunctionDef):
        return Thing("function", node.name, signature(node, f"dpmf.{node.name}"), docstring(node),
                     where)
    bases = [ast.unparse(base) for base in node.bases]
    is_exception = any(re.search(r"(Error|Warning|Exception|Refused)$", base) for base in bases)
    makes = [
        item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    shown = f"dpmf.{node.name}"
    if node.name == "Model":  # the one that is made by calling it
        shown = signature(makes[0], shown)
    elif bases and bases != ["NamedTuple"]:
        shown += f", a {' and '.join(bases)}"
    made = Thing("exception" if is_exception else "class", node.name, shown, docstring(node), where)
    made.members = fields(node, source, place) + members(node, place)
    return made


def read(folder: Path) -> Package:
    init = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    names = public_names(init)
    found: dict[str, Thing] = {}
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        if path.name == "errors.py":
            names += public_names(tree)
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                place = f"python/src/dpmf/{path.name}"
                found.setdefault(node.name, thing(node, text.split("\n"), place))
    order = {"class": 0, "function": 1, "exception": 2}
    things = [need(found.get(name), name) for name in names]
    things.sort(key=lambda each: (each.name != "Model", order[each.kind]))
    return Package(docstring(init), things)


def need(found: Optional[Thing], name: str) -> Thing:
    if found is None:
        raise SystemExit(f"dpmf.__all__ names {name}, which no file of the package has")
    return found


def missing(package: Package) -> list[str]:
    """What has no docstring; fields may leave it to their class."""
    wanted = [(each.name, each) for each in package.things]
    wanted += [(f"{each.name}.{member.name}", member) for each in package.things
               for member in each.members if member.kind != "field"]
    return [f"{each.place}: {name} has no docstring" for name, each in wanted if not each.text]
