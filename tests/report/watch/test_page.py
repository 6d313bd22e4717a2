"""The page of ``warpreg watch`` in a browser: it updates itself, and shows what is done, what fails and the figures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from tests.report.page.browser import Browser, chromium

from warpreg.cache.jobs import JobLog
from warpreg.report.loopback import LoopbackServer, listening, new_token
from warpreg.report.watch.page import routes

pytestmark = pytest.mark.slow
HOSTILE = "<img src=x onerror='window.hit = 1'>"
PATIENCE_S = 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))


@contextmanager
def serving() -> Iterator[LoopbackServer]:
    with listening(routes(), token=new_token()) as server:
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Command:
    """A sweep of four cells that a test performs."""

    def __init__(self, *arguments: str) -> None:
        self.now = time.time() - 60
        self._began = self.now
        self.log = JobLog(arguments, lambda: self.now)
        self.now += 10

    def reaches(self, done: int) -> None:
        self.now += 10
        pace = {"began": self._began, "done": done, "found": 0, "total": 4}
        self.log.update(step="measuring", pace=pace, unit="cells")
        self.log.write()


def until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "the page does not change"
        time.sleep(0.1)


def text(browser: Browser, selector: str) -> str:
    found = [one.text for one in browser.all(selector)]
    return found[0] if found else ""


def test_the_page_updates_itself_and_shows_figures_failures_and_the_end(browser: Browser) -> None:
    with serving() as server:
        browser.driver.get(server.address)
        until(lambda: "No command" in text(browser, "#none"))
        command = Command("sweep", "entries.toml")
        command.reaches(1)
        until(lambda: text(browser, "article h2") == "warpreg sweep entries.toml")
        assert text(browser, ".state") == "running"
        assert text(browser, "p.progress").startswith("1 of 4 cells, ")
        assert browser.all("table")[0].text == ""

        command.log.add("rows", [{"design": "rfc(entries=2)", "elided": 0.5, "energy_normalized": 0.25}])
        command.reaches(2)
        until(lambda: browser.all("td"))
        assert browser.all("table")[0].text.split("\n")[-1] == "rfc(entries=2) 1 0.500 0.250"

        command.log.add("failures", [{"what": "cell 3: bfs, rfc", "why": HOSTILE}])
        command.reaches(3)
        until(lambda: "1 failed" in text(browser, "summary"))
        assert text(browser, ".failures li") == f"cell 3: bfs, rfc: {HOSTILE}"
        assert (
            browser.run("return document.querySelector('#said').textContent") == "warpreg sweep entries.toml: 1 failed"
        )

        command.log.end("failed")
        until(lambda: text(browser, ".state") == "failed")
        assert "left" not in text(browser, "p.progress")
        assert browser.run("return window.hit === undefined")
        assert browser.complaints() == []


def test_keyboard_and_screen_readers(browser: Browser) -> None:
    """Cards are named by their commands, bars have words, and what a reader has closed stays closed."""
    command = Command("sweep", "entries.toml")
    command.log.add("failures", [{"what": "cell 1", "why": "no room"}])
    command.reaches(1)
    with serving() as server:
        browser.driver.get(server.address)
        until(lambda: browser.all("article"))
        assert browser.run("return document.querySelector('article').getAttribute('aria-labelledby')") is not None
        assert browser.all("progress")[0].get_attribute("aria-valuetext") == text(browser, "p.progress")
        assert browser.all("progress")[0].accessible_name == "warpreg sweep entries.toml"
        assert browser.run("return document.querySelector('main').tabIndex") == -1
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        assert browser.focused.text == "Skip to the commands"
        browser.focused.send_keys(Keys.TAB)
        assert browser.focused.tag_name == "summary"
        browser.focused.send_keys(Keys.SPACE)
        assert browser.all(".failures")[0].get_attribute("open") is None
        command.log.add("failures", [{"what": "cell 2", "why": "no room"}])
        command.reaches(2)
        until(lambda: "2 failed" in text(browser, "summary"))
        assert browser.all(".failures")[0].get_attribute("open") is None
        assert browser.focused.tag_name == "summary"
        assert browser.complaints() == []


def test_a_page_whose_server_has_ended_says_so(browser: Browser) -> None:
    with serving() as server:
        browser.driver.get(server.address)
        until(lambda: browser.run("return document.body.dataset.updates > 0"))
    until(lambda: "The server does not answer" in text(browser, "#lost"))
