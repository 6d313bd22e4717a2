"""Work of a worker elsewhere, which may lack the package and may have a store of its own.

A task goes as bytes, which a worker and a scheduler without the package can receive; a worker of Dask that cannot read
a task stops.  Results come back with what the worker's store keeps of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from warpreg.cache import store
from warpreg.evaluation.sweep.work import Found, Task, finish

CALL = f"__import__({__name__!r}, fromlist=['finish_posted']).finish_posted(task)"


@dataclass(frozen=True, slots=True)
class TaskResults:
    """The results of a task by number, and the contents of the worker's store by key."""

    results: Mapping[int, Found]
    contents: Mapping[str, bytes]


def post(executor: Executor, task: Task) -> Future[TaskResults]:
    """Submit a task.  Its future raises ImportError where the worker lacks the package."""
    return executor.submit(eval, CALL, {"task": pickle.dumps(task)})


def finish_posted(task: bytes) -> TaskResults:
    """Finish a task, in a worker."""
    posted: Task = pickle.loads(task)
    results = finish(posted)
    found = ((key, store.read(store.RESULTS, key)) for key in posted.keys.values())
    return TaskResults(results, {key: content for key, content in found if content is not None})


def keep_sent(sent: TaskResults) -> dict[int, Found]:
    """Store what a worker has sent, as far as the store of this process, which may be the same, has it not."""
    for key, content in sent.contents.items():
        if store.read(store.RESULTS, key) is None:
            store.write(store.RESULTS, key, content)
    return dict(sent.results)
