"""The process that runs one replay: a pickled question on its input, pickled messages on its output.

Messages: ("progress", share done, seconds left), then ("done", result) or ("error", one line).
"""

import pickle
import sys
from typing import Any

from pdexplorer.ui.replay_work import run_replay


def main() -> None:
    """Reads, works, writes; what is printed by anything else goes to the error stream."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr

    def send(*message: Any) -> None:
        pickle.dump(message, out)
        out.flush()

    wanted, trace = pickle.load(sys.stdin.buffer)
    try:
        result = run_replay(wanted, trace, lambda share, left_s: send("progress", share, left_s))
    except ValueError as error:
        send("error", str(error))
        return
    send("done", result)


if __name__ == "__main__":
    main()
