"""Work of a worker elsewhere, whose store may be its own: results come back with what that store keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.cache import store
from warpreg.experiments.sweep.work import Found, Task, finish


@dataclass(frozen=True, slots=True)
class Sent:
    """The results of a task by number, and the contents of the worker's store by key."""

    results: Mapping[int, Found]
    contents: Mapping[str, bytes]


def finish_and_send(task: Task) -> Sent:
    """Finish a task, in a worker."""
    results = finish(task)
    found = ((key, store.read(store.RESULTS, key)) for key in task.keys.values())
    return Sent(results, {key: content for key, content in found if content is not None})


def keep_sent(sent: Sent) -> dict[int, Found]:
    """Store what a worker has sent, as far as the store of this process, which may be the same, has it not."""
    for key, content in sent.contents.items():
        if store.read(store.RESULTS, key) is None:
            store.write(store.RESULTS, key, content)
    return dict(sent.results)
