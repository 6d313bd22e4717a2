"""The page of ``warpreg watch`` and the answers of its server: it reads, and changes nothing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from html import escape

from warpreg.cache.directory import cache_directory
from warpreg.cache.jobs import jobs
from warpreg.report import inline
from warpreg.report.loopback import JSON, Answer, Request, Routes
from warpreg.report.watch.state import state_of
from warpreg.report.watch.study import WatchedStudy

POLICY = (
    "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'"
)


def page() -> str:
    """The page as text; it runs no other script and fetches nothing but the state."""
    script = inline.text(__package__, "watch.js")
    parts = {
        "policy": escape(POLICY.format(inline.sha256(script))),
        "style": inline.style(__package__, "style.css"),
        "script": script,
    }
    text = inline.text(__package__, "page.html")
    for name, part in parts.items():
        text = text.replace(f"{{{{ {name} }}}}", part)
    return text


def routes(studies: Sequence[WatchedStudy] = (), clock: Callable[[], float] = time.time) -> Routes:
    """What the server answers: the page, and its state as JSON."""
    first, lock = page().encode(), threading.Lock()

    def state(request: Request) -> Answer:
        with lock:
            now = clock()
            running_first = sorted(jobs(), key=lambda job: job.state != "running")
            commands = [state_of(job, now) for job in running_first]
            shown = {"store": str(cache_directory()), "studies": [one.state() for one in studies], "commands": commands}
        return Answer(json.dumps(shown, allow_nan=False).encode(), JSON)

    return {("GET", "/"): lambda request: Answer(first), ("GET", "/state"): state}
