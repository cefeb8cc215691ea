"""Processes that answer the first screen's questions, started when needed and kept.

The runs of all visitors share one interpreter with the thread that talks to their browsers. Worked out among
them, an answer would hold up everybody's; beside them it holds up nobody's, and every core is used.
"""

import pickle
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pdexplorer.ui.work.process import started
from pdexplorer.ui.work.screen import Question


@dataclass(eq=False)
class Work:
    """A question under way or answered. first: its first result, last: its last, the same where there is one;
    both ValueError where it has no answer. waiting: how many look at it now.
    """

    last: "Future[Any]"
    first: "Future[Any]" = field(default_factory=Future)
    waiting: int = 0


class _Own(threading.local):
    """Each thread speaks to a process of its own."""

    process: "subprocess.Popen[bytes] | None" = None


class Crew:
    """Questions in the order they are asked, answered by a number of processes; the latest answers are kept
    for everybody. The processes end with this one, which holds their input.
    """

    def __init__(self, processes: int, kept: int, niceness: int = 0) -> None:
        self._queue = ThreadPoolExecutor(processes, thread_name_prefix="crew")
        self._kept, self._niceness = kept, niceness
        self._works: OrderedDict[Question, Work] = OrderedDict()
        self._lock = threading.Lock()
        self._own = _Own()

    @contextmanager
    def asked(self, question: Question) -> Iterator[Work]:
        """The question under way, for as long as somebody looks at it: one that nobody looks at any more
        before its turn has come is dropped, and one that failed is tried anew the next time.
        """
        with self._lock:
            work = self._works.pop(question, None) or self._begun(question)
            self._works[question] = work
            work.waiting += 1
            if len(self._works) > self._kept:
                self._works.popitem(last=False)
        try:
            yield work
        finally:
            with self._lock:
                work.waiting -= 1
                if not work.waiting and (work.last.cancel() or _failed(work.last)):
                    self._works.pop(question, None)

    def known(self, question: Question) -> Any:
        """Its last result if that is there already, else None."""
        with self._lock:
            work = self._works.get(question)
        if work is None or not work.last.done() or work.last.cancelled() or _failed(work.last):
            return None
        return work.last.result()

    def busy(self) -> bool:
        """Whether a question is under way or waits for its turn."""
        with self._lock:
            return any(not work.last.done() for work in self._works.values())

    def _begun(self, question: Question) -> Work:
        first: Future[Any] = Future()
        return Work(self._queue.submit(self._answered, question, first), first)

    def _answered(self, question: Question, first: "Future[Any]") -> Any:
        found: list[Any] = []

        def take(result: Any) -> None:
            found.append(result)
            if not first.done():
                first.set_result(result)

        try:
            self._work_out(question, take)
        except BaseException as error:
            if not first.done():
                first.set_exception(error)
            raise
        return found[-1]

    def _work_out(self, question: Question, take: Callable[[Any], None]) -> None:
        for _ in range(2):
            try:
                return self._talk(question, take)
            except (EOFError, OSError, pickle.UnpicklingError):
                self._stop()
        # A machine that keeps ending the process has its answers all the same.
        for result in question.steps():
            take(result)
        return None

    def _talk(self, question: Question, take: Callable[[Any], None]) -> None:
        process = self._process()
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump(question, process.stdin)
        process.stdin.flush()
        while True:
            kind, content = pickle.load(process.stdout)
            if kind == "error":
                raise ValueError(content)
            if kind == "done":
                return
            take(content)

    def _process(self) -> "subprocess.Popen[bytes]":
        if self._own.process is None:
            self._own.process = started("pdexplorer.ui.work.screen", self._niceness)
        return self._own.process

    def _stop(self) -> None:
        if self._own.process is not None:
            self._own.process.kill()
            self._own.process.wait()
            self._own.process = None


def _failed(future: "Future[Any]") -> bool:
    return future.done() and future.exception() is not None
