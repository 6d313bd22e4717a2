"""The page of an explorer in a browser: edit, compile, errors, designs, keyboard."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys
from tests.ptx.cuda.compilers import needs_nvrtc
from tests.report.explorer.samples import SUBJECT
from tests.report.page.browser import Browser, chromium

from warpreg.report.explorer.serve import exploring
from warpreg.report.explorer.subject import CUDA

pytestmark = [pytest.mark.slow, needs_nvrtc]
SOURCE = """// Squares, in place.
__global__ void k(int *x)
{
    int i = threadIdx.x;
    x[i] = x[i] * x[i];
}
"""
CODES = ("warpreg", "sm_80")
FILE = dataclasses.replace(SUBJECT, name="k.cu", language=CUDA, text=SOURCE, codes=CODES)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with exploring(FILE) as server, chromium(tmp_path_factory.mktemp("profile")) as found:
        threading.Thread(target=server.run, daemon=True).start()
        found.chrome("Emulation.setFocusEmulationEnabled", enabled=True)
        found.driver.get(server.address)
        found.settle()
        yield found
        assert found.complaints() == []
        server.shutdown()


@pytest.fixture(autouse=True)
def restored(browser: Browser) -> None:
    """Each test begins with the text of the file, without designs."""
    browser.run("if (chosen.size) { chosen.clear(); drawDesigns(); drawViews(); }")
    browser.run("shownTitle = 'warpreg'; if (source.value !== DATA.text) restore()")


def registers(browser: Browser, code: str) -> int:
    return int(browser.text(f"[id='tab-{code}'] b"))


def write(browser: Browser, old: str, new: str) -> None:
    """Replace a part of the source, as typing would."""
    browser.run("source.value = source.value.replace(arguments[0], arguments[1]); edited()", old, new)


def test_registers_follow_the_text(browser: Browser) -> None:
    """Eight loads that are all live before their sum is made need at least as many registers."""
    before = {code: registers(browser, code) for code in CODES}
    parts = " + ".join(f"x[i + {1000 * n}] * x[i + {n}]" for n in range(8))
    write(browser, "x[i] * x[i]", parts)
    for code in CODES:
        assert registers(browser, code) >= before[code] + 4
        assert browser.text(f"[id='tab-{code}'] .more").startswith("+")
    assert "registers" in browser.text("#status")


def test_an_error_is_shown_at_its_line_and_the_listing_stays(browser: Browser) -> None:
    rows = len(browser.all("tr[data-pc]"))
    write(browser, "= threadIdx.x", "= thread.x")
    assert browser.text("#problems li") == 'line 4:13 identifier "thread" is undefined'
    (fault,) = browser.all("#gutter .fault")
    assert fault.text == "4"
    assert browser.text(".here") == "t"
    assert len(browser.all("tr[data-pc]")) == rows
    browser.run("document.querySelector('#problems button').click()")
    assert browser.run("return source.value.slice(source.selectionStart)").startswith("thread.x")
    write(browser, "= thread.x", "= threadIdx.x")
    assert not browser.all("#problems li")


def test_lines_are_linked_both_ways(browser: Browser) -> None:
    assert "tint" in str(browser.all("#paint .row")[4].get_attribute("class"))
    browser.run("goTo(5)")
    marked = browser.all("tr.marked")
    assert marked
    assert {row.get_attribute("data-line") for row in marked} == {"5"}
    browser.run("document.querySelector('tr[data-line=\"4\"]').focus()")
    assert [row.text.strip() for row in browser.all("#paint .marked")] == ["int i = threadIdx.x;"]


def test_the_keyboard_goes_to_the_code_and_back(browser: Browser) -> None:
    browser.run("goTo(5)")
    browser.focused.send_keys(Keys.CONTROL, Keys.ENTER)
    assert browser.focused.get_attribute("data-line") == "5"
    pc = int(str(browser.focused.get_attribute("data-pc")))
    browser.focused.send_keys(Keys.ARROW_DOWN)
    assert browser.focused.get_attribute("data-pc") == str(pc + 1)
    browser.focused.send_keys(Keys.HOME)
    line = str(browser.focused.get_attribute("data-line"))
    browser.focused.send_keys(Keys.ENTER)
    assert browser.focused.get_attribute("id") == "source"
    assert browser.run("return lineAt(source.selectionStart)") == int(line)
    browser.focused.send_keys(Keys.TAB)
    assert browser.focused.get_attribute("id") != "source"


def test_a_new_line_is_indented_and_undone(browser: Browser) -> None:
    browser.run("goTo(4, 100)")
    browser.focused.send_keys(Keys.ENTER, "i += 1;")
    assert "threadIdx.x;\n    i += 1;\n" in browser.run("return source.value")
    assert browser.all("#reset")[0].is_enabled()
    browser.focused.send_keys(Keys.CONTROL, "z")
    browser.settle()


def test_the_next_error_has_a_key(browser: Browser) -> None:
    write(browser, "x[i] * x[i]", "y * x[i]")
    browser.run("goTo(1)")
    browser.focused.send_keys(Keys.F8)
    assert browser.run("return [lineAt(source.selectionStart), source.value[source.selectionStart]]") == [5, "y"]


def test_designs_are_chosen_and_changed(browser: Browser) -> None:
    browser.choose("Add a design", "orf-lrf")
    assert browser.all(".place")
    assert "orf-lrf" in browser.text(".rows thead")
    browser.run("document.querySelector('.card details').open = true")
    entries = browser.all(".choices input[type=number]")[0]
    entries.clear()
    entries.send_keys("0", Keys.TAB)
    browser.settle()
    assert browser.text(".card summary").startswith("orf-lrf entries=0")
    browser.run("document.querySelector('.card > button').click()")
    assert not browser.all(".place")


def test_the_tabs_are_moved_by_keys_and_keep_the_designs(browser: Browser) -> None:
    browser.choose("Add a design", "rfc")
    browser.run("document.getElementById('tab-warpreg').focus()")
    browser.focused.send_keys(Keys.ARROW_RIGHT)
    browser.settle()
    assert browser.focused.get_attribute("id") == "tab-sm_80"
    assert "rfc" in browser.text(".rows thead")
    assert "S2R" in browser.text(".rows")


def test_options_reach_the_compiler(browser: Browser) -> None:
    before = registers(browser, "warpreg")
    browser.choose("Address bits", "32")
    assert registers(browser, "warpreg") < before
    browser.choose("Address bits", "64")
    assert registers(browser, "warpreg") == before


def test_kernels_that_are_not_compiled_are_counted(browser: Browser) -> None:
    """A page compiles 16 kernels of a text."""
    many = "\n".join(f"__global__ void k{n}(int *x) {{ x[0] = {n}; }}" for n in range(18))
    browser.run("source.value = arguments[0]; edited()", many)
    assert browser.text("#kernels label span") == "Kernel (2 more are not compiled)"
    assert len(browser.all("#kernels option")) == 16
