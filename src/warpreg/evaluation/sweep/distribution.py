"""Hands tasks to an executor and collects results, also where workers die.

A worker that dies takes the tasks down that were running beside it, since an executor of processes cannot say which of
them was at fault.  They are measured again, one at a time, and cells that were finished before are found in the store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures import BrokenExecutor as Broken
from typing import Any

from warpreg.evaluation.sweep import batch
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.executors import opened
from warpreg.evaluation.sweep.far_work import TaskResults, keep_sent, post
from warpreg.evaluation.sweep.processes import PROCESSES
from warpreg.evaluation.sweep.work import Found, Task, finish, finished_in_turn, told
from warpreg.ir.errors import InterruptedCodeError

Results = dict[int, Found]
POLL_S = 2.0
"""Seconds after which results of unfinished tasks are looked for in the store, for the progress."""
DIED = "the process that measured it died, for want of memory as a rule; try fewer workers"


def distributed(tasks: Sequence[Task], where: str, workers: int | None) -> Iterator[Results]:
    """The results of tasks, in the order in which they are finished; some come twice, alone and with their task.

    Raises SweepError for a scheduler that does not answer, or no longer.
    """
    if not tasks:
        return
    if where != PROCESSES:
        with opened(where, workers) as executor:
            yield from _finished(executor, deque(tasks), most=len(tasks), submit=post)
        return
    if workers == 1:
        for task in tasks:
            yield from _in_this_process(task)
        return
    waiting = deque(tasks)
    while waiting:
        suspects: list[Task] = []
        with opened(where, workers) as executor:
            yield from _finished(executor, waiting, most=2 * _width(executor), suspects=suspects)
        for task in suspects:
            yield from _alone(task)


def _in_this_process(task: Task) -> Iterator[Results]:
    left = dict(task.cells)
    try:
        for number, result in finished_in_turn(task):
            del left[number]
            yield {number: result}
    except InterruptedCodeError:
        raise
    except Exception as error:
        yield dict.fromkeys(left, told(error))


def _width(executor: Executor) -> int:
    return int(getattr(executor, "_max_workers", 1))


def _submit(executor: Executor, task: Task) -> Future[Any]:
    return executor.submit(finish, task)


def _finished(
    executor: Executor,
    waiting: deque[Task],
    most: int,
    suspects: list[Task] | None = None,
    submit: Callable[[Executor, Task], Future[Any]] = _submit,
) -> Iterator[Results]:
    """Results while the executor lives, ``most`` tasks at a time; ``suspects`` are those that were under way when it
    died.  Without them, only the task of the worker that died has failed.
    """
    running: dict[Future[Any], Task] = {}
    seen: set[int] = set()
    while waiting or running:
        try:
            while waiting and len(running) < most:
                running[submit(executor, waiting[0])] = waiting[0]
                waiting.popleft()
            done, _ = wait(running, None if suspects is None else POLL_S, FIRST_COMPLETED)
            if not done and (found := _kept_already(running.values(), seen)):
                yield found
            for future in done:
                yield _result(future, running[future], survives=suspects is None)
                del running[future]
        except Broken:
            assert suspects is not None
            suspects += running.values()
            return


def _kept_already(tasks: Iterable[Task], seen: set[int]) -> Results:
    """The results that workers have kept of tasks under way, but for those that were ``seen`` before."""
    waited = ((number, key) for task in tasks for number, key in task.keys.items() if number not in seen)
    found = {number: row for number, key in waited if (row := batch.kept(key)) is not None}
    seen.update(found)
    return dict(found)


def _result(future: Future[Any], task: Task, *, survives: bool) -> Results:
    try:
        found = future.result()
        results: Results = keep_sent(found) if isinstance(found, TaskResults) else found
        return results
    except CancelledError as error:
        raise SweepError("the scheduler is gone; what was finished is kept") from error
    except Broken:
        if not survives:
            raise
        return dict.fromkeys(task.cells, DIED)
    except ImportError as error:
        return dict.fromkeys(task.cells, f"expected warpreg {task.version} on every worker, found one without: {error}")
    except Exception as error:
        killed = type(error).__name__ == "KilledWorker"
        return dict.fromkeys(task.cells, DIED if killed else told(error))


def _alone(task: Task) -> Iterator[Results]:
    """The results of a task in a process of its own; if that dies too, cell by cell, so that only one fails."""
    dead: list[Task] = []
    with opened(PROCESSES, 2) as executor:
        yield from _finished(executor, deque([task]), most=1, suspects=dead)
    if not dead:
        return
    if len(task.cells) == 1:
        yield dict.fromkeys(task.cells, DIED)
        return
    for number in task.cells:
        yield from _alone(task.only(number))
