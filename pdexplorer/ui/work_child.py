"""The process that does one piece of long work: a pickled task on its input, pickled messages on its output.

Messages: ("progress", share done, seconds left), then ("done", result) or ("error", one line).
"""

import pickle
import sys
from typing import Any

from pdexplorer.ui.replay_work import Replay, run_replay
from pdexplorer.ui.study_work import run_study


def main() -> None:
    """Reads, works, writes; what is printed by anything else goes to the error stream."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr

    def send(*message: Any) -> None:
        pickle.dump(message, out)
        out.flush()

    task, data = pickle.load(sys.stdin.buffer)
    try:
        if isinstance(task, Replay):
            result: Any = run_replay(task, data, lambda share, left_s: send("progress", share, left_s))
        else:
            result = run_study(task)
    except ValueError as error:
        send("error", str(error))
        return
    send("done", result)


if __name__ == "__main__":
    main()
