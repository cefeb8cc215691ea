"""Requests as arrays, and how a scenario's traffic becomes them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Requests:
    """Equal-length arrays, in order of arrival. cached_tokens of a prompt are already in a prefix cache.

    block_hashes: per request the hash of each 512-token block of its prompt, where a trace has them.
    dropped_rows: rows of a trace left out on purpose (failed requests).
    """

    arrival_s: NDArray[np.float64]
    input_tokens: NDArray[np.int64]
    cached_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    block_hashes: tuple[tuple[int, ...], ...] | None = None
    dropped_rows: int = 0

    def __len__(self) -> int:
        return len(self.arrival_s)
