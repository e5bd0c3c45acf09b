"""Takes a page apart as a browser would and prints what dpmf put into it: page_parts.py PAGE
RELEASE"""
import base64
import html.parser
import json
import sys


class Parts(html.parser.HTMLParser):
    """The title and the scripts that hold data, by their ids."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.inside = None
        self.parts = {}
        self.ids = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.inside = "title" if tag == "title" else attrs.get("id") if tag == "script" else None
        if tag == "script":
            self.ids.append(attrs.get("id"))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.parts[self.inside] = self.parts.get(self.inside, "") + data


page, release = (open(path, "rb").read() for path in sys.argv[1:3])
parser = Parts()
parser.feed(page.decode("utf-8"))
parts = parser.parts
print("title:", ascii(parts["title"]))
print("data:", sorted(name for name in parser.ids if name and name.startswith("dpmf-")))
print("release:", base64.b64decode(parts["dpmf-release"], validate=True) == release)
print("items:", ascii(json.loads(parts["dpmf-items"])))
statement = json.loads(parts["dpmf-statement"])
print("statement:", sorted(statement), statement["statement"]["epsilon"],
      len(statement["text"]) > 500)
print("angles:", "<" in parts["dpmf-items"] + parts["dpmf-statement"])
print("markers left:", page.count(b"<!--dpmf:"))
