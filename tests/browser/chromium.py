"""Debian's Chromium, driven through its chromedriver: what the tests and the pictures of the page
have in common."""

import base64
import json
import os
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

TIMEOUT = 20  # seconds that anything may take on a busy machine


class Browser:
    def __init__(self, width=1280, height=860, scale=1):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in [
                "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking", "--disable-component-update"
        ]:
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium refuses root otherwise
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_script_timeout(120)
        self.resize(width, height, scale)

    def quit(self):
        self.driver.quit()

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def resize(self, width, height, scale=1):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=scale, mobile=False)

    def prefer(self, **features):
        """Media features such as prefers_color_scheme="dark"; none: as the system has them."""
        named = [{"name": name.replace("_", "-"), "value": value}
                 for name, value in features.items()]
        self.command("Emulation.setEmulatedMedia", features=named)

    def open(self, url):
        """Opens a page that should work, and waits until it does."""
        self.console()  # what was said before is not about this page
        self.driver.get(url)
        self.until(lambda: self.run(
            "return Boolean(window.dpmf) || !document.getElementById('trouble').hidden"))
        trouble = self.run("return document.getElementById('trouble').textContent")
        assert not trouble, trouble
        self.run("document.documentElement.style.scrollBehavior = 'auto'")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def run_later(self, script, *arguments):
        """A script that calls its last argument when it is done."""
        return self.driver.execute_async_script(script, *arguments)

    def until(self, condition, what="what was waited for"):
        end = time.monotonic() + TIMEOUT
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < end, f"{what} did not come"
            time.sleep(0.02)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector)

    def is_shown(self, selector):
        return self.find(selector).is_displayed()

    def press(self, *keys):
        """Keys to whatever has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focused(self, expression="e.id || e.className"):
        return self.run(f"const e = document.activeElement; return {expression}")

    def network_requests(self):
        """Addresses asked for since the last call, by the browser's own log."""
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.webSocketCreated":
                urls.append(message["params"]["url"])
        return urls

    def console(self):
        """Warnings and errors; but that a page nobody touched may not ask before it is left is the
        browser's own word."""
        said = [
            entry["message"] for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]
        return [message for message in said if "'beforeunload' confirmation panel" not in message]

    def picture(self, path, selector=None, margin=16):
        """What is to be seen, or one part of the page and a little around it."""
        arguments = {"format": "png"}
        if selector:
            x, y, width, height = self.run(
                """const box = document.querySelector(arguments[0]).getBoundingClientRect();
                return [box.x + scrollX, box.y + scrollY, box.width, box.height];""", selector)
            clip = {
                "x": x - margin, "y": y - margin, "width": width + 2 * margin,
                "height": height + 2 * margin, "scale": 1
            }
            arguments.update(captureBeyondViewport=True, clip=clip)
        data = self.command("Page.captureScreenshot", **arguments)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
