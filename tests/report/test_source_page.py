"""The page of ``warpreg explain --html`` in a browser: keyboard, marks, and columns that hide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys
from tests.report.page.browser import Browser, chromium
from tests.report.test_source_view import explained

from warpreg.report.source_page import source_page
from warpreg.report.source_view import Cost

pytestmark = pytest.mark.slow
COSTS = {pc: Cost(1, 1.0 + pc, (1, 0, 0, 0), {"memory": pc}) for pc in range(20)}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "k.html"
    path.write_text(source_page("k", [explained(folder, COSTS)]), encoding="utf-8")
    with chromium(folder / "profile") as found:
        found.open(path)
        yield found


def test_the_arrow_keys_move_and_enter_goes_to_the_other_side(browser: Browser) -> None:
    """Line 2 is the first one with instructions: two, so that three rows are marked."""
    browser.run("document.querySelector('.side tr[tabindex=\"0\"][data-line]').focus()")
    while "k.cu:2" not in str(browser.focused.get_attribute("data-line")):
        browser.focused.send_keys(Keys.ARROW_DOWN)
    assert len(browser.all("tr.marked")) == 3
    browser.focused.send_keys(Keys.ENTER)
    assert browser.run("return document.activeElement.closest('.side').ariaLabel") == "Listing of k"
    assert len(browser.all("tr[tabindex='0']")) == 2
    assert browser.complaints() == []


def test_a_column_hides(browser: Browser) -> None:
    waits = browser.all("td.waits")
    assert waits[0].is_displayed()
    browser.run("document.querySelector('[data-part=waits]').click()")
    assert not any(one.is_displayed() for one in waits)
    browser.run("document.querySelector('[data-part=waits]').click()")
    assert waits[0].is_displayed()


def test_a_phone_shows_the_source_without_scrolling_the_page(browser: Browser) -> None:
    browser.chrome("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    browser.run("location.reload()")
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    assert browser.run("return document.querySelector('[data-part=ranges]').checked") is False
