"""Vega-Lite to SVG and PNG, in a process of its own: the renderer holds the interpreter's lock for as long as
it draws, seconds the first time, and a page that drew in one of its threads would stand still for everybody.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

Format = Literal["svg", "png"]

_LIMIT_S = 60.0


class Drawer:
    """One child process that draws one chart after another; started when needed, and anew where it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def draw(self, spec: Mapping[str, Any], kind: Format) -> bytes:
        """The picture's file. RuntimeError, one line, where the renderer refuses or takes too long."""
        order = json.dumps({"kind": kind, "spec": spec}, allow_nan=False).encode() + b"\n"
        with self._lock:
            child = self._running()
            late = threading.Timer(_LIMIT_S, child.kill)
            late.start()
            try:
                answer = _ask(child, order)
            except OSError:
                answer = None
            finally:
                late.cancel()
        if answer is None:
            raise RuntimeError(f"the chart was not drawn: the renderer stopped or took over {_LIMIT_S:.0f} s")
        fine, body = answer
        if not fine:
            raise RuntimeError(f"the chart was not drawn: {body.decode(errors='replace')[:300]}")
        return body

    def close(self) -> None:
        """Ends the child."""
        with self._lock:
            if self._child is not None:
                self._child.kill()
                self._child.wait()
                self._child = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            command = [sys.executable, "-m", "pdexplorer.export.draw_child"]
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._child


@cache
def shared_drawer() -> Drawer:
    """The process's own drawer."""
    return Drawer()


def _ask(child: subprocess.Popen[bytes], order: bytes) -> tuple[bool, bytes] | None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(order)
    child.stdin.flush()
    word, _, size = child.stdout.readline().partition(b" ")
    if not size:
        return None
    body = child.stdout.read(int(size))
    return (word == b"ok", body) if len(body) == int(size) else None
