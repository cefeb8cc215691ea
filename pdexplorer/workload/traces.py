"""A trace file as requests: arrivals from zero, lengths, and the prefix hits its block hashes imply."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pdexplorer.workload.prefix import TRACE_BLOCK_TOKENS, leading_hits
from pdexplorer.workload.requests import Requests, selected
from pdexplorer.workload.trace_rows import TraceRows, read_rows

TRACE_SEED = 0
"""Seed of the arrivals within a tick where the caller has none."""


def read_trace(
    path: str | Path, window_s: tuple[float, float] | None = None, seed: int = TRACE_SEED
) -> Requests:
    """Requests of a trace, by arrival; time 0 is the first arrival, or the start of the window [start, end).

    Azure, Mooncake, BurstGPT and vidur files are told apart by content; a file of lengths only gives NaN
    arrivals. Where most rows share their time stamps (Mooncake's conversation trace has ticks 3 s wide)
    arrivals are spread uniformly within each tick, by seed, in the file's order. With block hashes,
    cached_tokens are the leading blocks an infinite cache has seen since the start of the file, also before
    the window.
    Raises ValueError, one line: a broken row, an empty or too large file, a window that holds nothing.
    """
    path = Path(path)
    stat = path.stat() if path.is_file() else None
    requests = _read(path, seed, (stat.st_mtime_ns, stat.st_size) if stat else (0, 0))
    if window_s is None:
        return requests
    start_s, end_s = window_s
    if not requests.timed:
        raise ValueError(
            f"trace {path}: window {start_s:g}:{end_s:g} needs arrival times; the file has lengths only"
        )
    if not 0 <= start_s < end_s:
        raise ValueError(f"window = {start_s:g}:{end_s:g} must be START:END seconds with 0 <= START < END")
    inside = (requests.arrival_s >= start_s) & (requests.arrival_s < end_s)
    if not inside.any():
        last_s = float(requests.arrival_s[-1])
        raise ValueError(
            f"window = {start_s:g}:{end_s:g} holds no request of {path}; allowed: within 0:{last_s:.0f} s"
        )
    return selected(requests, np.flatnonzero(inside), start_s)


@lru_cache(maxsize=4)
def _read(path: Path, seed: int, version: tuple[int, int]) -> Requests:
    del version  # only part of the key: a changed file is read again
    rows = read_rows(path)
    if not rows.input_tokens:
        raise ValueError(f"trace {path}: no request in it; allowed: at least one row that did not fail")
    inputs = np.asarray(rows.input_tokens, dtype=np.int64)
    cached = np.zeros_like(inputs)
    arrival_s = _arrivals(rows, seed)
    order = np.argsort(arrival_s, kind="stable")
    hashes = tuple(rows.block_hashes[index] for index in order) if rows.block_hashes else None
    if hashes is not None:
        hits = np.asarray(leading_hits(hashes), dtype=np.int64) * TRACE_BLOCK_TOKENS
        cached = np.minimum(hits, inputs[order] - 1)
    requests = Requests(
        arrival_s=arrival_s[order],
        input_tokens=inputs[order],
        cached_tokens=cached,
        output_tokens=np.asarray(rows.output_tokens, dtype=np.int64)[order],
        block_hashes=hashes,
        dropped_rows=rows.dropped_rows,
    )
    for array in (requests.arrival_s, requests.input_tokens, requests.cached_tokens, requests.output_tokens):
        array.setflags(write=False)  # the result is shared by every caller
    return requests


def _arrivals(rows: TraceRows, seed: int) -> NDArray[np.float64]:
    if not rows.arrival_s:
        return np.full(len(rows.input_tokens), np.nan)
    stamps = np.asarray(rows.arrival_s)
    # Offsets are taken before scaling away digits: 100 ns matter to nobody, but 9.98 - 3.98 should be 6.
    stamps = np.round(stamps - stamps.min(), 9)
    ticks, tick_of, count = np.unique(stamps, return_inverse=True, return_counts=True)
    shared = count[count > 1].sum()
    if shared <= 0.5 * len(stamps) or len(ticks) < 2:
        return np.asarray(stamps)
    gaps = np.diff(ticks)
    width = np.minimum(np.append(gaps, np.median(gaps)), np.median(gaps))
    draws = np.random.default_rng(np.random.SeedSequence(seed)).random(len(stamps))
    # Sorting the draws of each tick keeps the file's order, on which prefix hits depend.
    rank = np.lexsort((draws, tick_of))
    by_row = np.argsort(tick_of, kind="stable")
    spread = np.empty(len(stamps))
    spread[by_row] = draws[rank]
    return np.asarray(stamps + spread * width[tick_of])
