"""Replications: the same question with other draws, on several processes where there are several."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from typing import TypeVar

Result = TypeVar("Result")


def replicate(run: Callable[[int], Result], seeds: Sequence[int], processes: int = 1) -> list[Result]:
    """run(seed) for every seed, in that order; results do not depend on the number of processes.

    With more than one process, run and its results must be picklable: a function of a module, or a
    functools.partial of one. It should draw what it needs from the seed and return figures, not records.
    Raises ValueError for fewer than one process.
    """
    if processes < 1:
        raise ValueError(f"processes = {processes} must be at least 1")
    if processes == 1 or len(seeds) < 2:
        return [run(seed) for seed in seeds]
    workers = min(processes, len(seeds))
    # A fork starts in milliseconds, but of a process with threads (a page's) it may hang.
    forks = "fork" in get_all_start_methods() and threading.active_count() == 1
    with ProcessPoolExecutor(workers, mp_context=get_context("fork" if forks else "spawn")) as pool:
        return list(pool.map(run, seeds))
