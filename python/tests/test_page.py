"""The page of a release: served beside this process, and written to a folder."""

from __future__ import annotations

import json
import unittest
import urllib.error
import urllib.request

import dpmf
from support import FolderTest, made_up, private_model


def look(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return bytes(answer.read())


class Page(FolderTest):
    def setUp(self):
        super().setUp()
        self.users, self.items, self.ratings = made_up(200, 40, 3000)
        self.release = private_model(self.folder, catalogue=range(40))
        self.release.fit(self.users, self.items, self.ratings)
        self.titles = self.folder / "titles.csv"
        self.titles.write_text("item,title\n" + "".join(f"{i},Film {i}\n" for i in range(40)))

    def test_serve(self):
        try:
            server = dpmf.serve(self.release, port=0, catalogue=self.titles, name="Films for us")
        except dpmf.FileError as error:
            if "libmicrohttpd" in str(error):
                self.skipTest(str(error))
            raise
        with server:
            self.assertIn(str(server.port), server.url)
            self.assertIn(b"Films for us", look(server.url))
            statement = json.loads(look(server.url + "v1/statement"))
            self.assertEqual(statement, dict(self.release.privacy_))
            self.assertEqual(json.loads(look(server.url + "v1/items"))[0]["title"][:5], "Film ")
            with self.assertRaises(OSError):  # the port is taken
                dpmf.serve(self.release, port=server.port)
            self.assertEqual(repr(server), f"<Server of {server.url}>")
        with self.assertRaises(urllib.error.URLError):
            look(server.url)
        self.assertIn("ended", repr(server))
        server.wait()  # has ended: returns at once

    def test_export(self):
        path = self.folder / "release.safetensors"
        self.release.save(path)
        report = dpmf.export_web(path, self.folder / "site", catalogue=self.titles,
                                 colour="#8a1538")
        self.assertEqual((report["items"], report["titles"]), (40, 40))
        page = (self.folder / "site" / "index.html").read_text(encoding="utf-8")
        self.assertIn("Film 7", page)
        with self.assertRaises(dpmf.DpmfError):
            dpmf.export_web(path, self.folder / "site")
        dpmf.export_web(path, self.folder / "site", replace=True)

    def test_refusals(self):
        checkpoint = dpmf.Model(n_factors=2, n_epochs=2).fit(self.users, self.items, self.ratings)
        with self.assertRaises(dpmf.PrivacyRefused) as caught:
            dpmf.export_web(checkpoint, self.folder / "site")
        self.assertNotIn("--", str(caught.exception))
        self.assertFalse((self.folder / "site").exists())
        with self.assertRaises(dpmf.PrivacyRefused):
            dpmf.serve(checkpoint, port=0)
        with self.assertRaises(dpmf.UsageError):
            dpmf.serve(self.release, port=70000)
        with self.assertRaises(dpmf.UsageError):
            dpmf.export_web(self.release, self.folder / "site", colour="reddish")
        with self.assertRaises(FileNotFoundError):
            dpmf.export_web(self.folder / "none", self.folder / "site")


if __name__ == "__main__":
    unittest.main()
