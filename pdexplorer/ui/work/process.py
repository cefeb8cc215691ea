"""How the page starts a process beside itself."""

import os
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType

_ALLOCATOR: Mapping[str, str] = MappingProxyType(
    {
        "MALLOC_TRIM_THRESHOLD_": str(2**28),
        "MALLOC_MMAP_THRESHOLD_": str(2**25),  # the largest it takes
        "MALLOC_TOP_PAD_": str(2**24),
    }
)
"""glibc's allocator, which others ignore: freed arrays are kept for the next ones. Given back to the system,
as is its way with large ones, each costs a page fault for every 4 KiB, up to a third of an answer.
"""


def started(module: str, niceness: int = 0) -> "subprocess.Popen[bytes]":
    """`python -m module`, spoken to by pipes; it ends with its input. niceness: how far it stands back behind
    others, where the system knows such a thing.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**_ALLOCATOR, **os.environ},
    )
    if niceness and hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
    return process
