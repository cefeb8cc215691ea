"""Requests as arrays, and how a scenario's traffic becomes them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Requests:
    """Equal-length arrays, in order of arrival. cached_tokens of a prompt are already in a prefix cache.

    block_hashes: per request the hash of each block of block_tokens of its prompt, where known (traces have
    blocks of 512); a hash stands for the block and all before it. context_hashes: the same over prompt and
    answer, of full blocks, where a later turn may come back to them.
    dropped_rows: rows of a trace left out on purpose (failed requests).
    """

    arrival_s: NDArray[np.float64]
    input_tokens: NDArray[np.int64]
    cached_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    block_hashes: tuple[tuple[int, ...], ...] | None = None
    dropped_rows: int = 0
    block_tokens: int = 512
    context_hashes: tuple[tuple[int, ...], ...] | None = None

    def __len__(self) -> int:
        return len(self.arrival_s)

    @property
    def timed(self) -> bool:
        """Whether arrivals are known; a file of lengths only has none (NaN)."""
        return not bool(np.isnan(self.arrival_s).any())


def selected(requests: Requests, rows: NDArray[np.int64], start_s: float = 0.0) -> Requests:
    """Those rows, in that order, with arrivals counted from start_s."""
    hashes, contexts = requests.block_hashes, requests.context_hashes
    return Requests(
        arrival_s=requests.arrival_s[rows] - start_s,
        input_tokens=requests.input_tokens[rows],
        cached_tokens=requests.cached_tokens[rows],
        output_tokens=requests.output_tokens[rows],
        block_hashes=None if hashes is None else tuple(hashes[row] for row in rows),
        dropped_rows=requests.dropped_rows,
        block_tokens=requests.block_tokens,
        context_hashes=None if contexts is None else tuple(contexts[row] for row in rows),
    )


def by_length(requests: Requests) -> Requests:
    """The same requests, longest together: a batch job wastes less where a batch's answers end together."""
    order = np.lexsort((requests.input_tokens, requests.output_tokens))[::-1]
    return selected(requests, order.astype(np.int64))
