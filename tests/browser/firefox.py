"""Debian's Firefox, driven by its own protocol (Marionette: JSON over a socket), since Debian has
no geckodriver."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

PATH = "/usr/bin/firefox-esr"
TIMEOUT = 60  # seconds; it starts slowly on a busy machine


class Firefox:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix="dpmf-firefox-")
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            for name, value in [("marionette.port", port),
                                ("browser.shell.checkDefaultBrowser", False),
                                ("datareporting.policy.dataSubmissionEnabled", False),
                                ("intl.accept_languages", "en-US")]:
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.process = subprocess.Popen(
            [PATH, "--headless", "--marionette", "--no-remote", "--profile", self.profile],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.profile))
        self.socket, self.buffer, self.sent = self.connect(port), b"", 0
        self.receive()  # who it is
        self.command("WebDriver:NewSession", capabilities={})

    def connect(self, port):
        end = time.monotonic() + TIMEOUT
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), TIMEOUT)
            except OSError:
                assert (time.monotonic() < end and
                        self.process.poll() is None), ("Firefox does not start")
                time.sleep(0.2)

    def receive(self):
        """A message is its length, a colon and JSON."""
        while b":" not in self.buffer:
            self.buffer += self.more()
        length, self.buffer = self.buffer.split(b":", 1)
        while len(self.buffer) < int(length):
            self.buffer += self.more()
        message, self.buffer = self.buffer[:int(length)], self.buffer[int(length):]
        return json.loads(message)

    def more(self):
        data = self.socket.recv(1 << 16)
        assert data, "Firefox is gone"
        return data

    def command(self, name, **parameters):
        self.sent += 1
        text = json.dumps([0, self.sent, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self.receive()
        assert number == self.sent and error is None, error
        return result.get("value") if isinstance(result, dict) else result

    def run(self, script, *arguments):
        return self.command("WebDriver:ExecuteScript", script=script, args=list(arguments))

    def open(self, url):
        self.command("WebDriver:Navigate", url=url)
        self.until(
            lambda: self.run(
                "return Boolean(window.dpmf) || !document.getElementById('trouble').hidden"),
            "the page")
        trouble = self.run("return document.getElementById('trouble').textContent")
        assert not trouble, trouble

    def until(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not (value := condition()):
            assert time.monotonic() < end, f"{what} did not come"
            time.sleep(0.05)
        return value

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector)

    def click(self, selector):
        """As a person does: with a pointer, where the element is, once nothing moves."""
        self.until(lambda: not self.run("return document.getAnimations().length"),
                   "rows that stand still")
        element = self.command("WebDriver:FindElement", using="css selector", value=selector)
        self.command("WebDriver:ElementClick", id=list(element.values())[0])

    def keys(self, selector, text):
        element = self.command("WebDriver:FindElement", using="css selector", value=selector)
        self.command("WebDriver:ElementSendKeys", id=list(element.values())[0], text=text)

    def is_shown(self, selector):
        return self.run("return document.querySelector(arguments[0]).checkVisibility()", selector)

    def picture(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("WebDriver:TakeScreenshot", full=False)))

    def quit(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(TIMEOUT)
        shutil.rmtree(self.profile, ignore_errors=True)
