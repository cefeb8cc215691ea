"""Gaps between tokens (ITL) as a histogram of step durations weighted by batch, 0.1 ms wide bins."""

import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

GAP_BIN_S = 1e-4
_BINS_PER_S = 1e4


class GapHistogram:
    """Counts of gaps by bin, with their exact sum."""

    __slots__ = ("bins", "sum_s")

    def __init__(self) -> None:
        self.bins: defaultdict[int, int] = defaultdict(int)
        self.sum_s = 0.0

    @property
    def gaps(self) -> int:
        """How many there are."""
        return sum(self.bins.values())

    def add(self, gap_s: float, weight: int) -> None:
        """`weight` gaps of that length."""
        self.bins[int(gap_s * _BINS_PER_S)] += weight
        self.sum_s += gap_s * weight

    def add_ramp(self, first_s: float, slope_s: float, steps: int, weight: int) -> None:
        """`weight` gaps of each of first, first + slope, ... over that many steps; slope >= 0."""
        bins = self.bins
        last = int((first_s + slope_s * (steps - 1)) * _BINS_PER_S)
        index = int(first_s * _BINS_PER_S)
        done = 0
        while index < last:
            # Steps below the upper edge of this bin.
            below = math.ceil(((index + 1) * GAP_BIN_S - first_s) / slope_s)
            below = min(max(below, done), steps)
            if below > done:
                bins[index] += (below - done) * weight
                done = below
            index += 1
        if steps > done:
            bins[last] += (steps - done) * weight
        self.sum_s += weight * (steps * first_s + slope_s * (steps * (steps - 1) // 2))

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Lower edges of the non-empty bins in seconds, ascending, and the gaps in each."""
        indices = np.array(sorted(self.bins), dtype=np.int64)
        counts = np.array([self.bins[index] for index in indices.tolist()], dtype=np.int64)
        return np.asarray(indices * GAP_BIN_S, dtype=np.float64), counts
