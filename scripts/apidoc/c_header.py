"""Reads a public header as people do: sections under banners, and in them declarations with the
comment above them.

A comment is about all declarations up to the next empty line; one after a declaration, on its line,
is about that one. In a comment, a paragraph that is indented by four blanks is an example.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

BANNER = re.compile(r"/\* -{20,}\n(.*?)\n \* -{20,} \*/\n", re.DOTALL)
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)


@dataclass
class Declaration:
    """One function, type or value: `text` is as it stands in the header."""

    kind: str  # "function", "struct", "opaque", "enum", "value", "callback"
    name: str  # of an enum without a name, that of its first value
    text: str
    note: str = ""  # the comment on its line
    line: int = 0

    @property
    def shown(self) -> str:
        """As it is for readers: without what is for the linker, and lined up again."""
        if "DPMF_API " not in self.text:
            return self.text
        return re.sub(r"\n {9}(?= )", "\n", self.text.replace("DPMF_API ", ""))


@dataclass
class Entry:
    """A comment and what it is about."""

    comment: str
    declarations: list[Declaration] = field(default_factory=list)


@dataclass
class Section:
    title: str
    text: str  # what the banner says besides its title
    entries: list[Entry] = field(default_factory=list)


@dataclass
class Header:
    name: str
    title: str
    text: str  # the comment on top, without its first line
    sections: list[Section]


def comment_text(comment: str) -> str:
    """A comment without its stars."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.strip("\n").split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip()


def read(path: Path) -> Header:
    text = path.read_text(encoding="utf-8")
    top = COMMENT.match(text)
    if top is None:
        raise SystemExit(f"{path}: it does not begin with a comment")
    title, _, about = comment_text(top.group(1)).partition("\n")
    pieces = BANNER.split(text[top.end():])
    sections, line = [], 1 + text.count("\n", 0, top.end())
    line += pieces[0].count("\n")
    for banner, body in zip(pieces[1::2], pieces[2::2]):
        name, _, more = comment_text(banner).partition("\n")
        line += banner.count("\n") + 3
        section = Section(name.strip(), more.strip(), entries(body, line))
        sections.append(section)
        line += body.count("\n")
    drop_forward_declarations(sections)
    return Header(path.name, title.rstrip("."), about.strip(), sections)


def drop_forward_declarations(sections: list[Section]) -> None:
    """`struct x;` says nothing where the header defines x as well."""
    all_entries = [entry for section in sections for entry in section.entries]
    defined = {d.name for entry in all_entries for d in entry.declarations if d.kind == "struct"}
    for entry in all_entries:
        entry.declarations = [
            d for d in entry.declarations if d.kind != "opaque" or d.name not in defined
        ]
    for section in sections:
        section.entries = [entry for entry in section.entries if entry.declarations]


def blocks(body: str, line: int) -> list[tuple[str, int]]:
    """Text between empty lines, with its line; empty lines inside braces and comments do not
    count."""
    found, current, first = [], [], line
    for number, row in enumerate(body.split("\n"), line):
        text = "\n".join(current)
        code = COMMENT.sub("", text)  # a comment may speak of braces
        is_open = code.count("{") > code.count("}") or text.count("/*") > text.count("*/")
        if row.strip() or is_open:
            first = first if current else number
            current.append(row)
        elif current:
            found.append((text, first))
            current = []
    if current:
        found.append(("\n".join(current), first))
    return found


def entries(body: str, line: int) -> list[Entry]:
    made = []
    for text, first in blocks(body, line):
        text = re.sub(r"#(ifdef|endif).*|extern \"C\" \{|^\}$", "", text, flags=re.MULTILINE)
        text = re.sub(r"^DPMF_DEFAULT\((\w+)\)", r"DPMF_API struct \1 \1_default(void);", text,
                      flags=re.MULTILINE)
        comment = COMMENT.match(text.lstrip("\n"))
        entry = Entry(comment_text(comment.group(1)) if comment else "")
        rest = text.lstrip("\n")[comment.end():] if comment else text
        entry.declarations = declarations(rest, first + text.count("\n") - rest.count("\n"))
        if entry.declarations:
            made.append(entry)
    return made


def statements(text: str) -> list[tuple[str, str, int]]:
    """Each declaration up to its semicolon, the comment after that, and how many lines are before
    it."""
    found, start, depth, at = [], 0, 0, 0
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == ";" and depth == 0:
            declaration = text[start:at + 1]
            note = re.compile(r"[ \t]*/\*(.*?)\*/", re.DOTALL).match(text, at + 1)
            before = text.count("\n", 0, start + len(declaration) - len(declaration.lstrip()))
            found.append((declaration.strip(), comment_text(note.group(1)) if note else "", before))
            at = start = note.end() if note else at + 1
            continue
        at += 1
    return found


def declarations(text: str, line: int) -> list[Declaration]:
    made = []
    for statement, note, before in statements(text):
        function = re.search(r"DPMF_API\b[^{;]*?\b(dpmf_\w+)\(", statement)
        value = re.match(r"extern DPMF_API\b.*?\b(dpmf_\w+)\[?", statement)
        body = re.match(r"(struct|enum) ?(\w*) ?\{", statement)
        opaque = re.match(r"struct (\w+);", statement)
        callback = re.match(r"typedef \w+ (dpmf_\w+)\(", statement)
        if value:
            kind, name = "value", value.group(1)
        elif function:
            kind, name = "function", function.group(1)
        elif body:
            kind, name = body.group(1), body.group(2) or re.search(r"\{\s*(\w+)",
                                                                   statement).group(1)
        elif callback:
            kind, name = "callback", callback.group(1)
        elif opaque:
            kind, name = "opaque", opaque.group(1)
        else:
            raise SystemExit(f"line {line + before}: not understood: {statement}")
        made.append(Declaration(kind, name, statement, note, line + before))
    return made


def parameters(declaration: Declaration) -> list[str]:
    """The names of a function's parameters; what a callback among them takes is not counted."""
    text = declaration.text[declaration.text.index(declaration.name) + len(declaration.name):]
    text = re.sub(r"\(\*(\w+)\)\((?:[^()]|\([^()]*\))*\)", r"\1", text)  # a callback
    inside = re.sub(r"\)\s*(DPMF_PRINTF\(.*\))?;$", "", text.strip()[1:])
    names = [
        re.sub(r"\[.*\]", "", each).split()[-1].lstrip("*") for each in inside.split(",")
        if each.strip()
    ]
    return [name for name in names if name not in ("void", "...")]


def undescribed(entry: Entry) -> list[tuple[int, str]]:
    """Parameters and results that the comment of functions says nothing about, and what it says
    about others."""
    functions = [each for each in entry.declarations if each.kind == "function"]
    wanted = list(dict.fromkeys(name for each in functions if not each.name.endswith("_default")
                                for name in parameters(each)))
    tags = paragraphs(entry.comment)
    given = [text.split()[0] for kind, text in tags if kind == "param"]
    wrong = [f"{name} is not described" for name in wanted if name not in given]
    wrong += [f"{name} is described and is no parameter" for name in given if name not in wanted]
    gives = [each for each in functions if not re.match(r"(DPMF_API )?void \w", each.text) and
             not each.name.endswith("_default")]
    if gives and not any(kind == "return" for kind, _ in tags):
        wrong.append("what it returns is not described")
    return [(functions[0].line, f"{functions[0].name}: {each}") for each in wrong]


def unknown_codes(header: Header, codes: set[str]) -> list[str]:
    """Codes that @error names and that there are not; DPMF_ERR_IO_* stands for all that begin
    so."""
    wrong = []
    for section in header.sections:
        for entry in section.entries:
            for kind, text in paragraphs(entry.comment):
                name = text.split()[0]
                if kind == "error" and not any(
                        code == name or name.endswith("_*") and code.startswith(name[:-1])
                        for code in codes):
                    wrong.append(
                        f"include/{header.name}: {entry.declarations[0].name}: there is no {name}")
    return wrong


def other_sentences(header: Path, table: Path) -> list[str]:
    """Error codes whose comment in the header is not their sentence in the library's table, or that
    one of them lacks."""
    declared = {
        name: sentence for sentence, name in re.findall(
            r"/\* ([^*]*?) \*/\s*(DPMF_(?:OK|ERR_\w+)) = ", header.read_text(encoding="utf-8"))
    }
    known = {
        name: "".join(re.findall(r'"([^"]*)"', texts)) for name, texts in re.findall(
            r'ENTRY\((DPMF_\w+),\s*((?:"[^"]*"\s*)+)\)', table.read_text(encoding="utf-8"))
    }
    declared = {name: re.sub(r"\s+", " ", sentence) for name, sentence in declared.items()}
    return [
        f"include/{header.name}: {name}: {declared.get(name)!r} here, {known.get(name)!r} in "
        f"{table.name}"
        for name in sorted({*declared, *known}) if declared.get(name) != known.get(name)
    ]


def missing(header: Header) -> list[str]:
    """What has neither a comment above it nor one on its line, and what comments of functions leave
    out."""
    found = [(declaration.line, f"{declaration.name} has no comment")
             for section in header.sections for entry in section.entries if not entry.comment
             for declaration in entry.declarations if not declaration.note]
    for section in header.sections:
        for entry in section.entries:
            if entry.comment and any(each.kind == "function" for each in entry.declarations):
                found += undescribed(entry)
    return [f"include/{header.name}:{line}: {what}" for line, what in found]


# ---- comments ------------------------------------------------------------------------------------


def paragraphs(comment: str) -> list[tuple[str, str]]:
    """("text", ...), ("example", ...), and the tags ("param", ...), ("return", ...) and ("error",
    ...), in the order they come. The text of a param or an error begins with its name."""
    found = []
    for piece in re.split(r"\n\s*\n", comment) if comment else []:
        if piece.startswith("    "):
            text = "\n".join(line[4:] for line in piece.split("\n"))
            if found and found[-1][0] == "example":  # an empty line in it
                found[-1] = ("example", found[-1][1] + "\n\n" + text)
            else:
                found.append(("example", text))
            continue
        text, *tags = re.split(r"\s*@(param|return|error)\s+", piece)
        if text.strip():
            found.append(("text", re.sub(r"\s+", " ", text.strip())))
        found += [(tag, re.sub(r"\s+", " ", each.strip()))
                  for tag, each in zip(tags[::2], tags[1::2])]
    return found


def examples(header: Header) -> list[tuple[str, str]]:
    """Name and text of every example, the name being that of the first function it stands above."""
    found = [("header", text) for kind, text in paragraphs(header.text) if kind == "example"]
    for section in header.sections:
        for entry in section.entries:
            found += [(entry.declarations[0].name, text)
                      for kind, text in paragraphs(entry.comment) if kind == "example"]
    return found


def write_examples(folder: Path, headers: list[Header]) -> None:
    """Each as a program that prints, and ends with 0 when nothing went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    for header in headers:
        for number, (name, text) in enumerate(examples(header), 1):
            body = "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
            program = (
                f"#include <{header.name}>\n#include <inttypes.h>\n#include <stdio.h>\n\n"
                f"int main(void) {{\n    struct dpmf_error error = {{0}};\n{body}\n"
                "    if (error.code) fprintf(stderr, \"%s: %s\\n\", error.file, error.message);\n"
                "    return error.code ? 1 : 0;\n}\n")
            stem = header.name.removesuffix(".h")
            (folder / f"{stem}-{number}-{name}.c").write_text(program, encoding="utf-8")
