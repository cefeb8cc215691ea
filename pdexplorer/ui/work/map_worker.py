"""The process that works out maps, started once and kept.

A map costs several times what the answer does. Worked out beside the page, it neither holds up the answer nor
other visitors, who share one interpreter.
"""

import pickle
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor

from pdexplorer.study.map import MapResult
from pdexplorer.ui.work.mapped import Mapped, run_map


class MapWorker:
    """Maps in the order they are asked for. The process ends with this one, which holds its input."""

    def __init__(self) -> None:
        self._queue = ThreadPoolExecutor(1, thread_name_prefix="map")
        self._process: subprocess.Popen[bytes] | None = None

    def submit(self, wanted: Mapped) -> "Future[MapResult]":
        """The map when it is done; its ValueError is `run_map`'s."""
        return self._queue.submit(self._answer, wanted)

    def _answer(self, wanted: Mapped) -> MapResult:
        for _ in range(2):
            try:
                kind, found = self._ask(wanted)
            except (EOFError, OSError, pickle.UnpicklingError):
                self._stop()
                continue
            if kind == "error":
                raise ValueError(found)
            result: MapResult = found
            return result
        return run_map(wanted)  # a machine that keeps ending the process shows its maps all the same

    def _ask(self, wanted: Mapped) -> tuple[str, MapResult]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pdexplorer.ui.work.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        question, answers = self._process.stdin, self._process.stdout
        assert question is not None
        assert answers is not None
        pickle.dump((wanted, None), question)
        question.flush()
        kind, found = pickle.load(answers)
        return kind, found

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
