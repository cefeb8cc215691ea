"""The page's server as a process of its own, with what it and its workers use, for the benchmarks."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pdexplorer.ui.launch import flags

ROOT = Path(__file__).parents[2]
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """process listens at port; ready_s: seconds from its start until it answered."""

    port: int
    process: int
    ready_s: float

    @property
    def address(self) -> str:
        """Where the page stands."""
        return f"http://127.0.0.1:{self.port}/"

    def cpu_s(self) -> float:
        """Processor seconds so far, workers that have ended included."""
        return sum(cpu_of(process) for process in tree(self.process))

    def page_cpu_s(self) -> float:
        """Those of the page's own process."""
        return cpu_of(self.process)

    def rss_mib(self) -> float:
        """Resident memory of the server and its workers in MiB, shared pages counted in each."""
        return sum(rss_mib_of(process) for process in tree(self.process))


@contextmanager
def served(script: str = "") -> Iterator[Server]:
    """A fresh server, as `pdexplorer app` starts it, ended afterwards; script: of that page instead."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pdexplorer", "app", "--port", str(port)]
    if script:
        command = [sys.executable, "-m", "streamlit", "run", script, *flags(), "--server.port", str(port)]
    started = time.perf_counter()
    server = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "STREAMLIT_SERVER_HEADLESS": "true"},
    )  # fmt: skip
    try:
        yield Server(port, server.pid, _ready(server, port, started))
    finally:
        server.terminate()
        server.wait(20)


def _ready(server: "subprocess.Popen[bytes]", port: int, started: float) -> float:
    while time.perf_counter() - started < 60:
        if server.poll() is not None:
            raise RuntimeError("the page's server stopped before it answered")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1) as answer:
                if answer.read() == b"ok":
                    return time.perf_counter() - started
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the page's server did not answer within 60 s")


def tree(process: int) -> list[int]:
    """A process and all below it that run now. From the parents of all: the kernel's own lists of children
    leave some out while others come and go.
    """
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [process]
    for one in found:
        found += below.get(one, [])
    return found


def cpu_of(process: int) -> float:
    """Processor seconds of a process and of its children that have been waited for."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(fields[position]) for position in (11, 12, 13, 14)) * _TICK_S


def rss_mib_of(process: int) -> float:
    """Resident memory of one process in MiB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)
