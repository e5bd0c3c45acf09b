"""Writes what the readers read as man pages: libdpmf(3), a page for every comment with functions,
and dpmf-python(3).

A function that shares its comment with others has a page that leads to theirs, so `man` finds every
one.
"""

from __future__ import annotations

import re
from pathlib import Path

from .c_header import Declaration, Entry, Header, Section, paragraphs
from .python_source import Package


def escape(text: str) -> str:
    """Text that roff takes as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def code(text: str) -> str:
    return f".PP\n.in +4n\n.nf\n{escape(text)}\n.fi\n.in\n"


def head(name: str, version: str) -> str:
    return f'.TH {name} 3 "" "dpmf {version}" "dpmf"\n'


def summary(text: str) -> str:
    """The first sentence, for whatis."""
    text = re.sub(r"\s+", " ", text)
    first = re.split(r"(?<=[a-zA-Z0-9)\"`])(?<!e\.g)[.;] ", text, maxsplit=1)[0].rstrip(".;:,")
    return first if len(first) <= 150 else first[:147].rsplit(" ", 1)[0] + " ..."


def comment_roff(comment: str) -> str:
    made: list[str] = []
    before = ""
    for kind, text in paragraphs(comment):
        if kind in ("param", "error"):
            name, _, about = text.partition(" ")
            title = {"param": "Parameters", "error": "Errors"}[kind]
            made.append(("" if kind == before else f".SS {title}\n") +
                        f".TP\n.B {escape(name)}\n{escape(about)}\n")
            before = kind
            continue
        if before and kind == "return":
            made.append(".SS Result\n")
        before = kind
        if kind == "example":
            made.append(code(text))
        else:
            made.append(f".PP\n{'Returns ' if kind == 'return' else ''}{escape(text)}\n")
    return "".join(made)


class Types:
    """The definitions that a page shows beside its functions."""

    def __init__(self, headers: list[Header]) -> None:
        self.of: dict[str, Declaration] = {}
        for header in headers:
            for section in header.sections:
                for entry in section.entries:
                    for declaration in entry.declarations:
                        if declaration.kind in ("struct", "enum"):
                            self.of[declaration.name] = declaration

    def named_in(self, entry: Entry) -> list[Declaration]:
        names: list[str] = []
        for declaration in entry.declarations:
            names += re.findall(r"\b(?:struct|enum) (dpmf_\w+)", declaration.text)
        unwanted = {"dpmf_error", "dpmf_run"}  # libdpmf(3) has what all share
        return [
            self.of[name] for name in dict.fromkeys(names)
            if name in self.of and name not in unwanted
        ]


def function_page(header: Header, section: Section, entry: Entry, types: Types,
                  version: str) -> tuple[str, str]:
    functions = [each for each in entry.declarations if each.kind == "function"]
    names = [each.name for each in functions]
    about = paragraphs(entry.comment)
    first = about[0][1] if about else functions[0].note
    if about and about[0][0] == "return":
        first = "returns " + first
    rows = []
    for each in entry.declarations:
        rows.append(each.shown + (f" /* {each.note} */" if each.note else ""))
    text = head(names[0], version) + f".SH NAME\n{', '.join(names)} \\- {escape(summary(first))}\n"
    text += (f".SH SYNOPSIS\n.nf\n#include <{header.name}>\n\n" + escape("\n\n".join(rows)) +
             "\n.fi\n")
    text += f".SH DESCRIPTION\n{comment_roff(entry.comment) or escape(functions[0].note) + chr(10)}"
    shown = [
        each for each in types.named_in(entry)
        if each.name not in {d.name for d in entry.declarations}
    ]
    if shown:
        text += ".SH TYPES\n" + "".join(code(each.text) for each in shown)
    others = [
        each.name for other in section.entries if other is not entry for each in other.declarations
        if each.kind == "function"
    ]
    text += (".SH SEE ALSO\n" +
             ",\n".join(f".BR {name} (3)"
                        for name in ["libdpmf", *others]).replace(",\n", " ,\n") + "\n")
    return names[0], text


def overview(headers: list[Header], types: Types, version: str) -> str:
    text = (
        head("libdpmf", version) +
        ".SH NAME\nlibdpmf, libdpmf\\-client \\- a private recommender engine, for programs in C\n")
    text += (
        ".SH SYNOPSIS\n.nf\n#include <dpmf.h>\n\ncc program.c $(pkg\\-config \\-\\-cflags "
        "\\-\\-libs dpmf)\n"
        "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs dpmf\\-client)\n\n"
        "find_package(dpmf)\ntarget_link_libraries(program dpmf::dpmf)    # or dpmf::client\n.fi\n")
    text += ".SH DESCRIPTION\n"
    for header in headers:
        text += f".SS {header.name}: {escape(header.title)}\n" + comment_roff(header.text)
    for name in ("dpmf_error", "dpmf_run"):
        text += code(types.of[name].text)
    text += ".SH FUNCTIONS\n"
    for header in headers:
        for section in header.sections:
            names = [
                each.name for entry in section.entries for each in entry.declarations
                if each.kind == "function"
            ]
            if names:
                rows = " ,\n".join(f".BR {name} (3)" for name in names)
                text += f".SS {escape(section.title)}\n{rows}\n"
    return text + ".SH SEE ALSO\n.BR dpmf (1)\n"


def inline(text: str) -> str:
    return escape(re.sub(r"`+([^`]+)`+", r"\1", text))


def docstring_roff(text: str) -> str:
    made, in_parameters = [], False
    for piece in re.split(r"\n\s*\n", text):
        heading = re.match(r"(\w+)\n-+\n", piece)
        if heading:
            in_parameters = heading.group(1) == "Parameters"
            made.append(f".PP\n{heading.group(1)}:\n")
            piece = piece[heading.end():]
        if piece.startswith(">>>"):
            made.append(code(piece))
        elif in_parameters:
            for group in re.split(r"\n(?=\S)", piece):
                name, _, what = group.partition("\n")
                made.append(
                    f".TP\n.B {escape(name)}\n{inline(re.sub(r'[ ]+', ' ', what.strip()))}\n")
        elif piece.strip():
            made.append(f".PP\n{inline(piece.strip())}\n")
    return "".join(made)


def python_page(package: Package, version: str) -> str:
    text = (head("dpmf-python", version) +
            ".SH NAME\ndpmf\\-python \\- a private recommender engine, for Python\n")
    text += (".SH SYNOPSIS\n.nf\nimport dpmf\n.fi\n.SH DESCRIPTION\n" +
             docstring_roff(package.text.split("\n\n", 1)[1]))
    for thing in package.things:
        text += f".SH {escape(thing.name)}\n" + code(
            re.sub(r",\s+", ",\n    ", thing.signature) if len(thing.signature) >
            78 else thing.signature)
        text += docstring_roff(thing.text)
        for member in thing.members:
            text += (f".SS {escape(thing.name)}.{escape(member.signature)}\n" +
                     docstring_roff(member.text))
    return text + ".SH SEE ALSO\n.BR dpmf (1)\n"


def write(folder: Path, headers: list[Header], package: Package, version: str) -> None:
    types = Types(headers)
    pages = {"libdpmf": overview(headers, types, version)}
    for header in headers:
        for section in header.sections:
            for entry in section.entries:
                names = [each.name for each in entry.declarations if each.kind == "function"]
                if not names:
                    continue
                name, text = function_page(header, section, entry, types, version)
                pages[name] = text
                pages.update({other: f".so man3/{name}.3\n" for other in names[1:]})
    (folder / "man3").mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / "man3" / f"{name}.3").write_text(text, encoding="utf-8")
    (folder / "python").mkdir(parents=True, exist_ok=True)
    (folder / "python" / "dpmf-python.3").write_text(python_page(package, version),
                                                     encoding="utf-8")
