"""A headless Chromium of the system, and what a test asks it; without one, the tests that need it are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.remote.webelement import WebElement

PROGRAMS = ("chromium", "chromedriver")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,900",
)  # fmt: skip
PATIENCE_S = 300
"""Chromium draws a large page in two seconds of processor time, and the processors may be busy."""
FRAMES = (
    "const done = arguments[0];"
    "const idle = () => document.querySelector('main[aria-busy=true]') ? setTimeout(idle) : done();"
    "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(idle)))"
)
"""Two frames, and then until the page has drawn all of its figures."""


@dataclass(frozen=True, slots=True)
class Browser:
    """One window, which shows a page from disk."""

    driver: webdriver.Chrome

    def open(self, page: Path, view: str = "") -> None:
        """Load a page anew, at a view such as ``#workload/bfs``."""
        self.driver.get("about:blank")
        self.driver.get(f"{page.as_uri()}{view}")
        self.settle()

    def go(self, view: str) -> None:
        """Show another view of the page."""
        self.run("location.hash = arguments[0]", view)

    def settle(self) -> None:
        """Wait until what has changed is drawn."""
        self.driver.execute_async_script(FRAMES)

    def run(self, script: str, *values: Any) -> Any:
        """The value that a script returns, after what it has changed is drawn."""
        found = self.driver.execute_script(script, *values)
        self.settle()
        return found

    def all(self, selector: str) -> list[WebElement]:
        """The elements of a CSS selector."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    @property
    def focused(self) -> WebElement:
        """The element that has the focus."""
        return self.driver.switch_to.active_element

    def text(self, selector: str) -> str:
        """The text of the first element of a CSS selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def plotted(self, figure: str, name: str) -> list[Any]:
        """A list of the first trace of a figure, such as ``x``."""
        found: list[Any] = self.run(f"return document.querySelector('#{figure} .plot').data[0].{name}")
        return found

    def choose(self, label: str, value: str) -> None:
        """Choose an entry of a list of choices by its label."""
        script = (
            "const lists = [...document.querySelectorAll('.choice')];"
            "const select = lists.find((one) => one.firstChild.textContent === arguments[0]).querySelector('select');"
            "select.value = arguments[1];"
            "select.dispatchEvent(new Event('change', {bubbles: true}))"
        )
        self.run(script, label, value)

    def chrome(self, command: str, **values: Any) -> Any:
        """A command of Chromium's own protocol."""
        return self.driver.execute_cdp_cmd(command, values)

    def complaints(self) -> list[str]:
        """What the page has written to the console since this was asked last: errors, refused scripts and requests."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; skips where the system has none."""
    programs = [shutil.which(name) for name in PROGRAMS]
    if None in programs:
        pytest.skip(f"needs {' and '.join(PROGRAMS)}: apt-get install chromium chromium-driver")
    options = Options()
    options.binary_location = str(programs[0])
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(programs[1])))
    try:
        assert isinstance(driver.command_executor, RemoteConnection)
        driver.command_executor.client_config.timeout = PATIENCE_S
        driver.set_page_load_timeout(PATIENCE_S)
        driver.set_script_timeout(PATIENCE_S)
        yield Browser(driver)
    finally:
        driver.quit()
