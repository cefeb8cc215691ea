"""The process that does work beside the page: pickled tasks on its input, pickled messages on its output.

Messages of a task: ("progress", share done, seconds left), then ("done", result) or ("error", one line). It
ends with its input.
"""

import pickle
import sys
from collections.abc import Callable
from typing import Any

from pdexplorer.ui.work.mapped import Mapped, run_map
from pdexplorer.ui.work.replay import Replay, run_replay
from pdexplorer.ui.work.study import run_study


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
    if isinstance(task, Mapped):
        return run_map(task)

    def report(share: float, left_s: float) -> None:
        send("progress", share, left_s)

    return run_replay(task, data, report) if isinstance(task, Replay) else run_study(task, report)


if __name__ == "__main__":
    main()
