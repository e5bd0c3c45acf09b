"""Writes what the readers read as pages for a browser: an index, a page for each header, one for
Python, one of examples.

Every name links to where it is explained. The pages need nothing from anywhere, are light or dark
as the system is, and can be printed.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from .c_header import Declaration, Entry, Header, Section, paragraphs
from .python_source import Package, Thing

STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
PAGES = (("index.html", "Overview"), ("dpmf.html", "dpmf.h"), ("dpmf_client.html", "dpmf_client.h"),
         ("dpmf_text.html", "dpmf_text.h"),
         ("python.html", "Python"), ("examples.html", "Examples"))
C_WORDS = re.compile(
    r"\b(?:void|int|char|const|struct|enum|bool|float|double|size_t|u?int\d+_t|unsigned|extern|"
    r"return|if|else|for|while|NULL|sizeof|static|goto|switch|case|break|true|false)\b")
PYTHON_WORDS = re.compile(
    r"\b(?:import|from|def|class|return|if|else|elif|for|in|while|with|as|try|except|raise|"
    r"not|and|or|None|True|False|lambda|print)\b")


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def anchor(declaration: Declaration) -> str:
    """Functions and types may have the same name."""
    kind = {"struct": "struct-", "opaque": "struct-", "enum": "enum-"}.get(declaration.kind, "")
    return kind + declaration.name


class Links:
    """Where each name is explained."""

    def __init__(self, headers: list[Header], package: Package) -> None:
        self.places: dict[str, str] = {}
        for header in headers:
            page = header.name.replace(".h", ".html")
            self.places[header.name] = page
            for section in header.sections:
                for entry in section.entries:
                    for declaration in entry.declarations:
                        place = f"{page}#{anchor(declaration)}"
                        self.places[anchor(declaration)] = place
                        self.places.setdefault(declaration.name, place)
                        for value in re.findall(r"\bDPMF_\w+", declaration.text):
                            if value not in ("DPMF_API", "DPMF_PRINTF"):
                                self.places.setdefault(value, place)
        self.python = {thing.name: f"python.html#{thing.name}" for thing in package.things}
        for thing in package.things:
            for member in thing.members:
                self.python.setdefault(member.name, f"python.html#{thing.name}.{member.name}")
                self.python[f"{thing.name}.{member.name}"] = (
                    f"python.html#{thing.name}.{member.name}")

    def c(self, escaped: str, here: str = "") -> str:
        """Links every known name of C in a text that is HTML already."""
        def link(match: re.Match[str]) -> str:
            before, name = match.group(1) or "", match.group(2)
            kind = re.sub(r"</?b>|\s", "", before)
            place = self.places.get(f"{kind}-{name}" if kind else name) or self.places.get(name)
            return (match.group(0)
                    if place is None or name == here else f'{before}<a href="{place}">{name}</a>')

        return re.sub(
            r"((?:<b>)?\b(?:struct|enum)(?:</b>)?\s)?\b(dpmf_\w+\.h\b|dpmf\.h\b|dpmf_\w+|DPMF_\w+)",
            link, escaped)

    def code(self, name: str) -> str:
        """A name in backticks, linked where Python knows it."""
        place = self.python.get(name.removeprefix("dpmf.").removesuffix("()"))
        text = f"<code>{name}</code>"
        return f'<a href="{place}">{text}</a>' if place else text


# ---- code ----------------------------------------------------------------------------------------


def colour(text: str, words: re.Pattern[str], parts: str) -> str:
    """Code as HTML: comments, texts and the language's own words told apart. `parts` matches
    comments and texts."""
    made, at = [], 0
    for part in re.finditer(parts, text, flags=re.DOTALL | re.MULTILINE):
        made.append(words.sub(r"<b>\g<0></b>", html.escape(text[at:part.start()], quote=False)))
        kind = "q" if part.group(0)[0] in "\"'" else "i"
        escaped = html.escape(part.group(0), quote=False)
        made.append("\n".join(f"<{kind}>{line}</{kind}>" if line else ""
                              for line in escaped.split("\n")))
        at = part.end()
    made.append(words.sub(r"<b>\g<0></b>", html.escape(text[at:], quote=False)))
    return "".join(made)


def c_code(text: str, links: Links, here: str = "") -> str:
    parts = r"/\*.*?\*/|//.*?$|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
    return f"<pre><code>{links.c(colour(text, C_WORDS, parts), here)}</code></pre>"


def python_code(text: str) -> str:
    parts = r'""".*?"""|#.*?$|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return f"<pre><code>{colour(text, PYTHON_WORDS, parts)}</code></pre>"


# ---- C -------------------------------------------------------------------------------------------


def c_text(text: str, links: Links) -> str:
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    return links.c(escaped)


def comment_html(comment: str, links: Links) -> str:
    made: list[str] = []
    for kind, text in paragraphs(comment):
        if kind in ("param", "error"):
            name, _, about = text.partition(" ")
            title = {"param": "Parameters", "error": "Errors"}[kind]
            head = f'<dl class="{kind}s"><dt class="title">{title}</dt>'
            row = (
                f"<dt><code>{links.c(html.escape(name))}</code></dt><dd>{c_text(about, links)}</dd>"
            )
            if made and made[-1].startswith(head):
                made[-1] = made[-1].removesuffix("</dl>") + row + "</dl>"
            else:
                made.append(head + row + "</dl>")
        elif kind == "example":
            made.append(f'<div class="example">{c_code(text, links)}</div>')
        elif kind == "return":
            made.append(f'<p class="returns"><span>Returns</span> {c_text(text, links)}</p>')
        else:
            made.append(f"<p>{c_text(text, links)}</p>")
    return "\n".join(made)


def entry_html(entry: Entry, links: Links) -> str:
    titles, codes = [], []
    for declaration in entry.declarations:
        name = declaration.name
        shown = f"{declaration.kind} {name}" if declaration.kind in ("struct", "enum") else name
        if declaration.kind == "opaque":
            shown = f"struct {name}"
        elif declaration.kind == "enum" and name.startswith("DPMF_"):
            shown = name
        place = anchor(declaration)
        titles.append(f'<a class="name" id="{place}" href="#{place}">{shown}</a>')
        text = declaration.shown
        if declaration.note:
            text += f" /* {declaration.note} */"
        codes.append(text)
    code = c_code("\n".join(codes), links)
    comment = comment_html(entry.comment, links)
    return f'<article><h3>{" ".join(titles)}</h3>\n{code}\n{comment}</article>'


def section_html(section: Section, links: Links) -> str:
    about = comment_html(section.text, links)
    entries = "\n".join(entry_html(entry, links) for entry in section.entries)
    return (f'<section id="{slug(section.title)}"><h2>{html.escape(section.title)}</h2>\n'
            f"{about}\n{entries}</section>")


def header_page(header: Header, links: Links) -> str:
    listed = []
    for section in header.sections:
        items = "".join(f'<li><a href="#{anchor(each)}">{each.name}</a></li>'
                        for entry in section.entries for each in entry.declarations)
        listed.append(f'<li><a href="#{slug(section.title)}">{html.escape(section.title)}</a>'
                      f"<ul>{items}</ul></li>")
    body = [
        f'<h1>{html.escape(header.title)}</h1>',
        f'<p class="include"><code>#include &lt;{header.name}&gt;</code></p>',
        comment_html(header.text, links)
    ]
    body += [section_html(section, links) for section in header.sections]
    return page(header.name, "\n".join(body), f'<ul class="contents">{"".join(listed)}</ul>',
                header.name)


# ---- Python --------------------------------------------------------------------------------------


def python_text(text: str, links: Links) -> str:
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"``(.+?)``", r"<code>\1</code>", escaped)
    return re.sub(r"(?<![`>])`([^`]+)`", lambda match: links.code(match.group(1)), escaped)


def parameters_html(piece: str, links: Links) -> str:
    """Names at the margin, what they mean indented below."""
    made = []
    for group in re.split(r"\n(?=\S)", piece):
        name, _, text = group.partition("\n")
        text = re.sub(r"\s+", " ", text.strip())
        made.append(f"<dt><code>{html.escape(name)}</code></dt><dd>{python_text(text, links)}</dd>")
    return f"<dl>{''.join(made)}</dl>"


def docstring_html(text: str, links: Links) -> str:
    made, in_parameters = [], False
    for piece in re.split(r"\n\s*\n", text):
        heading = re.match(r"(\w+)\n-+\n", piece)
        if heading:
            in_parameters = heading.group(1) == "Parameters"
            made.append(f"<h4>{heading.group(1)}</h4>")
            piece = piece[heading.end():]
        if piece.startswith(">>>"):
            made.append(f'<div class="example">{python_code(piece)}</div>')
        elif in_parameters:
            made.append(parameters_html(piece, links))
        elif piece.strip():
            made.append(f"<p>{python_text(re.sub(chr(10), ' ', piece.strip()), links)}</p>")
    return "\n".join(made)


def signature_html(signature: str) -> str:
    """Long ones have an argument a line."""
    name, _, rest = signature.partition("(")
    if len(signature) > 96 and rest:
        arguments = re.split(r", (?![^(]*\))", rest.removesuffix(")"))
        signature = f"{name}(\n    " + ",\n    ".join(arguments) + ",\n)"
    return python_code(signature)


def thing_html(thing: Thing, links: Links) -> str:
    members = []
    fields = [member for member in thing.members if member.kind == "field"]
    if fields:
        rows = "".join(
            f'<dt id="{thing.name}.{each.name}"><code>{html.escape(each.signature)}</code></dt>'
            f"<dd>{python_text(each.text, links)}</dd>" for each in fields)
        members.append(f"<dl>{rows}</dl>")
    for member in thing.members:
        if member.kind == "field":
            continue
        anchor = f"{thing.name}.{member.name}"
        members.append(
            f'<article class="member"><h4><a class="name" id="{anchor}" '
            f'href="#{anchor}">{member.name}</a>'
            f'<small>{member.kind}</small></h4>' +
            (signature_html(member.signature) if member.kind == "method" else "") +
            docstring_html(member.text, links) + "</article>")
    return (f'<article><h3><a class="name" id="{thing.name}" href="#{thing.name}">{thing.name}</a>'
            f"<small>{thing.kind}</small></h3>\n{signature_html(thing.signature)}\n"
            f"{docstring_html(thing.text, links)}\n{''.join(members)}</article>")


def python_page(package: Package, links: Links) -> str:
    listed = []
    body = ["<h1>dpmf for Python</h1>", '<p class="include"><code>import dpmf</code></p>',
            docstring_html(package.text, links)]
    for kind, title in (("class", "Classes"), ("function", "Functions"), ("exception",
                                                                          "Errors and warnings")):
        things = [thing for thing in package.things if thing.kind == kind]
        items = []
        for thing in things:
            inner = "".join(f'<li><a href="#{thing.name}.{each.name}">{each.name}</a></li>'
                            for each in thing.members if each.kind != "field")
            items.append(f'<li><a href="#{thing.name}">{thing.name}</a><ul>{inner}</ul></li>')
        listed.append(f'<li><a href="#{slug(title)}">{title}</a><ul>{"".join(items)}</ul></li>')
        body.append(f'<section id="{slug(title)}"><h2>{title}</h2>'
                    + "\n".join(thing_html(thing, links) for thing in things) + "</section>")
    return page("Python", "\n".join(body), f'<ul class="contents">{"".join(listed)}</ul>', "Python")


# ---- examples, index -----------------------------------------------------------------------------


def example_title(path: Path) -> str:
    """What the comment on top says first."""
    text = path.read_text(encoding="utf-8")
    first = re.search(r'(?:/\*\s*\n? ?\*? ?|""")(.*?)(?:\n\s*\n|\n \*\n|\*/|""")', text,
                      flags=re.DOTALL).group(1)
    return re.sub(r"\s*\n \* ", " ", first).replace("\n", " ").strip()


def examples_page(folder: Path, links: Links) -> str:
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".c", ".py"))
    items = "".join(f'<li><a href="#{slug(path.name)}">{path.name}</a></li>' for path in paths)
    body = [
        "<h1>Examples</h1>",
        "<p>A ladder, from ten lines up, in C and in Python. Every one of them is built and run by "
        "the tests.</p>"
    ]
    for path in paths:
        text = path.read_text(encoding="utf-8").rstrip()
        code = c_code(text, links) if path.suffix == ".c" else python_code(text)
        body.append(f'<section id="{slug(path.name)}"><h2>{path.name}</h2>{code}</section>')
    return page("Examples", "\n".join(body), f'<ul class="contents">{items}</ul>', "Examples")


def index_page(headers: list[Header], package: Package, examples: Path, links: Links,
               version: str) -> str:
    cards = []
    for header in headers:
        first = paragraphs(header.text)[0][1]
        cards.append(
            '<article class="card"><h3><a '
            f'href="{links.places[header.name]}">{header.name}</a></h3>'
            f"<p>{c_text(first, links)}</p></article>")
    text = package.text.split("\n\n", 1)[1]
    cards.append(
        '<article class="card"><h3><a href="python.html">import '
        f'dpmf</a></h3>{docstring_html(text, links)}</article>'
    )
    ladder = [
        f'<li><a href="examples.html#{slug(path.name)}">{path.name}</a> '
        f'{html.escape(example_title(path))}</li>'
        for path in sorted(examples.iterdir()) if path.suffix in (".c", ".py")
    ]
    names = sorted((declaration.name, declaration.kind) for header in headers
                   for section in header.sections for entry in section.entries
                   for declaration in entry.declarations)
    functions = "".join(f"<li>{links.c(name)}</li>" for name, kind in names if kind == "function")
    words = {"struct": "struct ", "opaque": "struct ", "enum": "enum "}
    types = "".join(f"<li>{links.c(words[kind] + name if name[0] == 'd' else name)}</li>"
                    for name, kind in names if kind in words)
    body = (
        f"<h1>dpmf {version}</h1><p>A private recommender engine: the manual of its libraries "
        "and of its Python package, made "
        f'from their sources.</p><div class="cards">{"".join(cards)}</div>'
        f'<h2>Examples</h2><ul class="ladder">{"".join(ladder)}</ul>'
        f'<h2>Functions</h2><ul class="names">{functions}</ul><h2>Types</h2><ul '
        f'class="names">{types}</ul>'
    )
    return page("dpmf", body, "", "Overview")


def page(title: str, body: str, contents: str, here: str) -> str:
    links = "".join(f'<a href="{place}"{" aria-current=page" if name == here else ""}>{name}</a>'
                    for place, name in PAGES)
    aside = f'<aside aria-label="On this page">{contents}</aside>' if contents else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}: the manual of dpmf</title><style>\n{STYLE}</style></head>\n"
        f'<body{"" if contents else " class=wide"}><nav aria-label="Pages">{links}</nav>{aside}\n'
        f"<main>\n{body}\n</main></body></html>\n")


def write(folder: Path, headers: list[Header], package: Package, examples: Path,
          version: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    links = Links(headers, package)
    pages = {
        "index.html": index_page(headers, package, examples, links, version),
        "python.html": python_page(package, links), "examples.html": examples_page(examples, links)
    }
    for header in headers:
        pages[links.places[header.name]] = header_page(header, links)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
