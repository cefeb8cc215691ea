"""Prefix hits: a mixture of warm and cold requests, or what a trace's block hashes say."""

from collections.abc import Container, Sequence

import numpy as np
from numpy.typing import NDArray

TRACE_BLOCK_TOKENS = 512
"""Tokens of one hashed block in a Mooncake trace; the last block of a prompt may be partial."""


def warm_hit_fraction(prefix_hit_fraction: float, warm_fraction: float) -> float:
    """Share of its prompt a warm request hits; the mean over warm and cold ones is prefix_hit_fraction."""
    return 0.0 if prefix_hit_fraction == 0.0 else min(1.0, prefix_hit_fraction / warm_fraction)


def cached_sample(
    input_tokens: NDArray[np.int64],
    prefix_hit_fraction: float,
    warm_fraction: float,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Cached tokens per request: warm with that probability. One token of a prompt is always computed."""
    warm = generator.random(len(input_tokens)) < warm_fraction
    hit = np.rint(input_tokens * warm_hit_fraction(prefix_hit_fraction, warm_fraction)).astype(np.int64)
    return np.where(warm, np.minimum(hit, input_tokens - 1), 0)


def leading(blocks: Sequence[int], known: Container[int]) -> int:
    """How many blocks from the start on are known."""
    count = 0
    for block in blocks:
        if block not in known:
            break
        count += 1
    return count


def leading_hits(block_hashes: Sequence[Sequence[int]]) -> list[int]:
    """Blocks of each prompt, from its start on, that an infinite cache has seen; in order of arrival."""
    seen: set[int] = set()
    hits = []
    for blocks in block_hashes:
        hits.append(leading(blocks, seen))
        seen.update(blocks)
    return hits
