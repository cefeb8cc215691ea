"""The process that does work beside the page: pickled tasks on its input, pickled messages on its output.

Messages of a task: ("progress", share done, seconds left), then ("done", result) or ("error", one line). It
ends with its input.
"""

import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

from pdexplorer.ui.work.replay import Replay, run_replay
from pdexplorer.ui.work.study import run_study

_PACE_S = 0.2


def main() -> None:
    """Reads, works, writes; what is printed by anything else goes to the error stream."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr

    def send(*message: Any) -> None:
        pickle.dump(message, out)
        out.flush()

    while True:
        try:
            task, data = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = _done(task, data, send)
        except ValueError as error:
            send("error", str(error))
        else:
            send("done", result)


def _done(task: Any, data: Any, send: Callable[..., None]) -> Any:
    report = _paced(send)
    return run_replay(task, data, report) if isinstance(task, Replay) else run_study(task, report)


def _paced(send: Callable[..., None]) -> Callable[[float], None]:
    """Sends shares done with the seconds left, as far as the time so far tells, no oftener than anybody
    looks.
    """
    started, sent = time.perf_counter(), [0.0]

    def report(share: float) -> None:
        since = time.perf_counter() - started
        if share > 0.0 and since - sent[0] >= _PACE_S:
            sent[0] = since
            send("progress", share, since * (1.0 - share) / share)

    return report


if __name__ == "__main__":
    main()
