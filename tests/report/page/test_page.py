"""The page of a report in a browser: what it shows, what its controls change, and that names cannot become code."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.report.page.browser import Browser, chromium
from tests.report.page.synthetic import row, rows

from warpreg.report.page.contents import contents
from warpreg.report.page.write import write

pytestmark = pytest.mark.slow
MAX_BYTES = 10_000_000
RUNS = "window.hit = 1"
HOSTILE = (f"<script>{RUNS}</script>", f"<img src=x onerror='{RUNS}'>", f"</script><script>{RUNS}</script>")
PAPER = {
    "paper": "rfc",
    "title": "Register file cache",
    "size": "tiny",
    "summary": "2 results, 2 measured",
    "saved": 3,
    "wanted": 4,
    "results": [
        {
            "id": f"rfc.{place}", "where": "§5", "what": "reads saved", "published": 0.5, "measured": measured,
            "unit": "fraction", "status": "measured", "within": place == 0, "null": 0.0, "could_fail": True,
            "cause": cause, **tested,
        }
        for place, (measured, cause, tested) in enumerate([
            (0.52, "", {}),
            (0.8, "input: other workloads (--ablation mix)",
             {"ablation": "the paper's mix", "ablated": 0.53, "share": 0.9, "verdict": "shown"}),
            (0.9, "model: another rule (--ablation rule)", {}),
        ])
    ],
}  # fmt: skip
MISSING = {
    "cell": 7, "workload": "bfs", "design": "rfc(entries=99)", "machine": "gtx480", "technology": "t",
    "reason": "too many entries", "failed": True,
}  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workloads under mrf and designs of 4 and 8 entries, whose energies are 0.8 and 0.801, 0.6 and 0.601."""
    made = [
        row(f"workload-{place}", "rfc" if entries else "mrf", place, entries)
        for place in range(2)
        for entries in (0, 4, 8)
    ]
    whole = contents("Two workloads", made, [MISSING], [PAPER])
    return write(whole, tmp_path_factory.mktemp("page") / "report.html")


def energies(browser: Browser) -> dict[str, float]:
    """The bars of the first figure by their names, from the top."""
    return dict(zip(browser.plotted("means", "hovertext"), browser.plotted("means", "x"), strict=True))


def test_the_overview_shows_means_of_each_design(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.text("h1") == "Two workloads"
    measured = "6 results: 2 workloads under 3 designs, on gebhart-rfc, with energies of gebhart-40nm."
    assert browser.text(".lead") == measured
    found = energies(browser)
    assert list(found) == ["rfc(entries=8)", "rfc(entries=4)", "mrf"]
    assert found["rfc(entries=8)"] == pytest.approx(math.sqrt(0.6 * 0.601))
    assert found["rfc(entries=4)"] == pytest.approx(math.sqrt(0.8 * 0.801))
    assert len(browser.all("figure .main-svg")) >= 4
    low_and_high = [cell.text for cell in browser.all("main > section tbody tr:nth-child(2) td")[-2:]]
    assert low_and_high == ["0.7204", "0.8805"]  # 0.9 and 1.1 times sqrt(0.8 * 0.801)
    assert browser.complaints() == []


def test_filters_baseline_measure_and_order_change_the_figures(browser: Browser, page: Path) -> None:
    browser.open(page)
    box = "//details[@class='filter'][1]//label[contains(., 'workload-1')]/input"
    browser.run("document.querySelector('.filter').open = true")
    browser.driver.find_element(By.XPATH, box).click()
    browser.settle()
    assert energies(browser)["rfc(entries=4)"] == pytest.approx(0.8)  # workload-0 alone
    assert browser.text("#status") == "3 results shown."
    browser.choose("Relative to", "rfc(entries=4)")
    assert energies(browser)["rfc(entries=8)"] == pytest.approx(0.6 / 0.8)
    browser.choose("Measure", "speed")
    assert energies(browser)["mrf"] == pytest.approx(19_600 / 20_000)
    browser.choose("Order", "name")
    assert list(energies(browser)) == ["mrf", "rfc(entries=4)", "rfc(entries=8)"]
    shown = browser.driver.current_url
    browser.open(page, f"#{shown.split('#')[1]}")  # the address says it all
    assert list(energies(browser).values()) == pytest.approx([0.98, 1.0, 19_600 / 19_200])
    browser.run("[...document.querySelectorAll('.all button')].find((one) => one.textContent === 'None').click()")
    assert browser.text("#status") == "0 results shown."
    assert not any(figure.is_displayed() for figure in browser.all("figure"))
    assert browser.complaints() == []


def test_each_workload_design_and_result_has_an_address(browser: Browser, page: Path) -> None:
    browser.open(page, "#workload/workload-1")
    assert browser.text("h1") == "workload-1"
    assert energies(browser)["rfc(entries=8)"] == pytest.approx(0.601)
    browser.driver.find_element(By.LINK_TEXT, "rfc(entries=8)").click()
    browser.settle()
    assert browser.text("h1") == "rfc(entries=8)"
    assert browser.run("return document.activeElement.tagName") == "H1"
    browser.driver.find_element(By.LINK_TEXT, "result 3").click()
    browser.settle()
    known = ("gebhart-rfc@167922fe466a", "gebhart-40nm@c2cd50098a5a", "0.1.0+d178a4b58eb9")
    assert [text for text in known if text not in browser.text(".facts")] == []
    assert "energy_pj 1200000" in browser.text("table")  # 0.6 of 2 million pJ
    browser.driver.back()
    browser.settle()
    assert browser.text("h1") == "rfc(entries=8)"
    browser.go("#workload/none")
    assert browser.text("main p") == "This report has no workload named none."
    assert browser.complaints() == []


def test_missing_cells_papers_and_provenance_are_shown(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.text(".warning") == "Of the study, 1 cell failed: see which."
    browser.go("#missing")
    assert browser.text("tbody tr") == "7 bfs rfc(entries=99) gtx480 t too many entries"
    browser.go("#papers")
    assert browser.text(".warning").startswith("Of 4 measurements of workloads, 3 are saved")
    first, second, third = (row.text for row in browser.all("tbody tr"))
    assert first.endswith("within – –")
    assert second.endswith("outside input: other workloads (--ablation mix) shown the paper's mix 53.0%")
    assert third.endswith("outside model: another rule (--ablation rule) not measured –")
    browser.go("#provenance")
    assert "gebhart-rfc@167922fe466a" in browser.text("main")
    assert browser.complaints() == []


def test_a_ranking_says_what_turns_it(browser: Browser, tmp_path: Path) -> None:
    """Ratios of b to a: 0.8 / 0.5 = 1.6 on x, 0.8 / 0.9 = 0.889 on y: sqrt(1.6 * 0.889) = 1.193."""
    values = {("x", "a"): 0.5, ("x", "b"): 0.8, ("y", "a"): 0.9, ("y", "b"): 0.8}
    made = [{**row(name, design, 0, 4), "energy_normalized": value} for (name, design), value in values.items()]
    browser.open(write(contents("Two designs", made), tmp_path / "ranking.html"), "#ranking")
    first, second = (line.text for line in browser.all("tbody tr")[:2])
    assert first == "a 1 1.193 0.8889 to 1.6 2 – workload=y (0.8889)"  # two workloads are too few for a certainty
    assert second == "b 2 – – – – –"
    beats = "a beats b: 1.193 times as good (0.8889 to 1.6) on 2 workloads, unless workload=y (0.8889)."
    assert browser.text(".beats") == beats
    browser.choose("with", "a")
    assert browser.text(".beats") == "Choose two designs."
    assert browser.complaints() == []


def test_names_of_users_are_never_code(browser: Browser, tmp_path: Path) -> None:
    made = [row(workload, design, place, place) for place, workload in enumerate(HOSTILE) for design in HOSTILE]
    failed = {**MISSING, **dict.fromkeys(("workload", "design", "machine", "reason"), HOSTILE[0])}
    file = write(contents(HOSTILE[2], made, [failed], [{**PAPER, "title": HOSTILE[1]}]), tmp_path / "hostile.html")
    browser.open(file)
    workload, design = (quote(name, safe="") for name in (HOSTILE[0], f"{HOSTILE[1]}(entries=0)"))
    lists = ["#overview", "#workloads", "#designs", "#ranking", "#provenance", "#missing", "#papers"]
    for view in (*lists, f"#workload/{workload}", f"#design/{design}", "#result/1"):
        browser.go(view)
        assert browser.text("h1") != "Not found"
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert browser.all("main img, main script, figure a[href]:not([href^='#'])") == []
        if view in ("#workloads", "#designs"):
            assert HOSTILE[0] in browser.text("main")
    assert browser.run("return window.hit ?? null") is None
    assert browser.complaints() == []


def test_it_follows_the_colours_of_the_system_and_a_switch(browser: Browser, page: Path) -> None:
    background = "return getComputedStyle(document.documentElement).backgroundColor"
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.open(page)
    light = browser.run(background)
    browser.chrome("Emulation.setEmulatedMedia", **dark)
    try:
        browser.settle()
        assert browser.run(background) == "rgb(20, 23, 28)" != light
        assert browser.run("return document.querySelector('#means .plot').layout.font.color") == "rgb(231, 234, 238)"
        browser.driver.find_element(By.ID, "theme").click()
        assert (browser.text("#theme"), browser.run(background)) == ("Light", light)
    finally:
        browser.chrome("Emulation.setEmulatedMedia", features=[])


def test_it_is_used_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.focused.send_keys(Keys.TAB)
    assert browser.focused.text == "Skip to the results"
    browser.focused.send_keys(Keys.ENTER)
    assert browser.focused.tag_name == "main"
    head = browser.driver.find_element(By.CSS_SELECTOR, "main > section thead th:nth-child(3) button")
    for expected, first in (("descending", "mrf"), ("ascending", "rfc(entries=8)")):
        head.send_keys(Keys.ENTER)
        assert browser.all("th[aria-sort]")[0].get_attribute("aria-sort") == expected
        assert browser.text("main > section tbody th") == first
    summary = browser.driver.find_element(By.CSS_SELECTOR, "#means .data summary")
    summary.send_keys(Keys.ENTER)
    browser.settle()
    assert len(browser.all("#means tbody tr")) == 3


def test_a_screen_reader_finds_landmarks_names_and_tables(browser: Browser, page: Path) -> None:
    browser.open(page)
    landmarks = ("header", "nav[aria-label]", "main", "footer", "h1", "[role=status]")
    assert [len(browser.all(landmark)) for landmark in landmarks] == [1] * 6
    unnamed = (
        "const every = document.querySelectorAll('select, input, button, main a[href], [role=img], [role=region]');"
        "const named = (one) => one.closest('label') || one.getAttribute('aria-label') || one.textContent.trim();"
        "return [...every].filter((one) => !named(one)).map((one) => one.outerHTML)"
    )
    assert browser.run(unnamed) == []
    named, with_tables = browser.all("figure .plot[role=group][aria-label]"), browser.all("figure details")
    assert len(browser.all("figure")) == len(named) == len(with_tables) == 4
    drawings = browser.all("figure svg.main-svg")
    assert drawings
    assert {one.get_attribute("aria-hidden") for one in drawings} == {"true"}
    assert browser.run(
        "const {ariaLabel, textContent} = document.getElementById('theme'); return ariaLabel.startsWith(textContent)"
    )


def test_figures_outside_the_window_are_drawn_after_those_in_it(browser: Browser, page: Path) -> None:
    """Right after a change, the first figure is new and the last one is not yet; the page says that it is busy."""
    browser.open(page)
    title = "document.querySelector('#means .plot').layout.xaxis.title.text"
    colours = "document.querySelector('#heat .plot').data[0].colorscale.length"
    before = browser.run(f"return {colours}")
    script = (
        "Object.assign(state, { metric: 'elided' }); update();"
        f"return [{title}, {colours}, main.getAttribute('aria-busy')]"
    )
    first, last, busy = browser.run(script)
    assert first.startswith("MRF accesses elided")
    assert (last, busy) == (before, "true")
    assert browser.run(f"return [{colours}, main.getAttribute('aria-busy')]") == [2, "false"]


def test_a_phone_has_the_keys_of_colours_outside_the_plot(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.all("#energy .keys li") == []
    browser.chrome("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    try:
        browser.open(page)
        names = browser.run("return document.querySelector('#energy .plot').data.map((one) => one.name)")
        assert [one.text for one in browser.all("#energy .keys li")] == names
        assert browser.run("return document.querySelector('#energy .plot').layout.showlegend") is False
    finally:
        browser.chrome("Emulation.clearDeviceMetricsOverride")


PROTRUDING = (
    "const width = document.documentElement.clientWidth;"
    "const beyond = (one) => { const box = one.getBoundingClientRect(); return box.width && box.right > width + 1; };"
    "const scrolled = (one) => one.closest('.scroll, .choices');"
    "return [...document.querySelectorAll('body *')].filter((one) => beyond(one) && !scrolled(one)"
    "&& !one.closest('svg, .skip, details:not([open]) > :not(summary)')).map((one) => one.outerHTML.slice(0, 80))"
)
"""What stands beyond the right edge, but for tables and lists, which scroll in boxes of their own."""
LONG = (
    "mrf",
    "register-virtualization-with-compression+coalescing-of-narrow-operands",
    "a_design_of_mine_whose_name_has_no_place_to_break_it_at_all",
    "rfc",
)


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_shows_it_without_scrolling_sideways(
    width: int, colours: str, browser: Browser, tmp_path: Path
) -> None:
    """Also names that are wider than the phone."""
    made = [
        row(name, design, place, entries, machine)
        for machine in ("gebhart-rfc", "gtx480")
        for place, name in enumerate(("matrix-mul-plain:m=64:n=128:width=16", "a_workload_of_mine_with_a_long_name"))
        for entries, design in enumerate(LONG)
    ]
    whole = contents("A_title_without_any_space_in_it_that_is_wider_than_a_phone", made, [MISSING], [PAPER])
    file = write(whole, tmp_path / "names.html")
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.chrome("Emulation.setDeviceMetricsOverride", **size)
    browser.chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
    try:
        browser.open(file)
        views = [str(link.get_attribute("href")).partition("#")[2] for link in browser.all("nav a")]
        assert len(views) == 7
        for view in (*views, "workload/a_workload_of_mine_with_a_long_name", f"design/{quote(LONG[2])}", "result/2"):
            browser.go(f"#{view}")
            assert browser.run("return document.documentElement.scrollWidth") == width
            assert browser.run(PROTRUDING) == []
            captions = "[...document.querySelectorAll('main > .scroll caption span, section caption span')]"
            right = browser.run(f"return Math.max(0, ...{captions}.map((one) => one.getBoundingClientRect().right))")
            assert right <= width
        browser.go("#overview")
        for place in range(len(browser.all(".filter"))):
            box = "document.querySelectorAll('.filter')[arguments[0]]"
            browser.run(
                f"document.querySelectorAll('.filter').forEach((one) => one.open = false); {box}.open = true", place
            )
            edges = browser.run(
                f"const box = {box}.querySelector('.choices').getBoundingClientRect(); return [box.left, box.right]",
                place,
            )
            assert 0 <= edges[0] < edges[1] <= width
            assert browser.run("return document.documentElement.scrollWidth") == width
        assert browser.complaints() == []
    finally:
        browser.chrome("Emulation.clearDeviceMetricsOverride")
        browser.chrome("Emulation.setEmulatedMedia", features=[])


def tiles(browser: Browser) -> dict[str, str]:
    """The cards of the best designs by what they say: the designs."""
    texts = [tile.text.splitlines() for tile in browser.all(".tiles li")]
    return {lines[0]: " / ".join(line for line in lines[2:] if "relative" not in line) for lines in texts}


def test_the_best_designs_are_all_named(browser: Browser, page: Path, tmp_path: Path) -> None:
    """a and b are as fast but for rounding; five elide as much; f has the least energy; all have the same occupancy."""
    browser.open(page)
    assert tiles(browser)["Fastest"] == "rfc(entries=8)"
    assert tiles(browser)["Highest occupancy"] == "all 3 designs"
    made = [
        {**row("x", name, place, 4), "speed": 1.25 * (1 + place * 1e-12) if name in "ab" else 1.0}
        | {"energy_normalized": 0.5 - 0.3 * (name == "f"), "elided": 0.5 if name in "abcde" else 0.1}
        for place, name in enumerate("abcdef")
    ]
    browser.open(write(contents("Ties", made), tmp_path / "ties.html"))
    found = tiles(browser)
    assert found["Fastest"] == "a, b / tie of 2 designs"
    assert found["Least dynamic energy"] == "f"
    assert found["Most MRF accesses elided"] == "a, b, c and 2 more / tie of 5 designs"
    assert found["Highest occupancy"] == "all 6 designs"
    assert [str(one.get_attribute("href")).partition("#")[2] for one in browser.all(".tiles li:nth-child(2) a")] == [
        "design/a",
        "design/b",
    ]
    assert browser.complaints() == []


def test_it_is_printed_in_light_colours_at_the_width_of_the_paper(browser: Browser, page: Path) -> None:
    browser.open(page)
    drawn = "const {layout} = document.querySelector('#means .plot'); return [layout.width ?? null, layout.font.color]"
    before = browser.run(drawn)
    assert browser.run(f"dispatchEvent(new Event('beforeprint')); {drawn}") == [700, "rgb(27, 31, 36)"]
    assert browser.run(f"dispatchEvent(new Event('afterprint')); {drawn}")[1] == before[1]
    assert len(browser.chrome("Page.printToPDF")["data"]) > 10_000


def test_many_results_stay_small_and_quick(browser: Browser, tmp_path: Path, record_property: Any) -> None:
    file = write(contents("105 workloads, 25 designs", rows(105, 25)), tmp_path / "large.html")
    assert file.stat().st_size < MAX_BYTES
    begin = time.monotonic()
    browser.open(file)
    loaded = time.monotonic()
    browser.run("change({ metric: 'speed' })")
    changed = time.monotonic()
    assert len(browser.plotted("heat", "z")) * len(browser.plotted("heat", "z[0]")) == 105 * 25
    assert browser.complaints() == []
    print(f"{file.stat().st_size / 1e6:.1f} MB, drawn in {loaded - begin:.1f} s, changed in {changed - loaded:.1f} s")
    record_property("seconds_to_draw", loaded - begin)
    record_property("seconds_to_change", changed - loaded)
