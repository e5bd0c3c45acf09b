"""The pages of scripts/api_docs.py: every link leads somewhere, no name occurs twice, nothing is
loaded from elsewhere, and every tag that is opened is closed."""

import sys
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "br", "link"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.names, self.links, self.open, self.wrong = path, [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.names.append(given["id"])
        if "href" in given:
            self.links.append(given["href"])
        if "src" in given or tag in ("script", "link", "iframe"):
            self.wrong.append(f"<{tag}> loads something")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()} closes something else")


def main(folder):
    pages = {path.name: Page(path) for path in sorted(Path(folder).glob("*.html"))}
    wrong = [] if len(pages) == 6 else [f"there are {len(pages)} pages"]
    for name, page in pages.items():
        wrong += [f"{name}: {what}" for what in page.wrong]
        wrong += [
            f"{name}: {each} occurs twice" for each in set(page.names)
            if page.names.count(each) > 1
        ]
        for link in page.links:
            place, _, anchor = link.partition("#")
            target = pages.get(place or name)
            if target is None or (anchor and anchor not in target.names):
                wrong.append(f"{name}: {link} leads nowhere")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
