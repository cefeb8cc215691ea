"""How many (query, key) pairs a prefill computes and how much past it reads, with or without a cap on the
span.
"""

from typing import Any

import numpy as np


def prefill_pairs(new_tokens: Any, past_tokens: Any, window_tokens: int | None = None) -> Any:
    """Pairs of one sequence: Σ over its new tokens of the keys each sees, min(past + i, window), i = 1..new.

    Floats or arrays; broadcasts. Without a window: new·(past + (new + 1)/2).
    """
    if window_tokens is None:
        return new_tokens * (past_tokens + (new_tokens + 1) / 2)
    if isinstance(new_tokens, int | float) and isinstance(past_tokens, int | float):
        below = min(max(window_tokens - past_tokens, 0), new_tokens)
    else:
        below = np.minimum(np.maximum(window_tokens - past_tokens, 0), new_tokens)
    return below * (past_tokens + (below + 1) / 2) + (new_tokens - below) * window_tokens


def past_read(past_tokens: Any, window_tokens: int | None = None) -> Any:
    """Past tokens one sequence's prefill reads from its cache, capped by the window. Floats or arrays."""
    if window_tokens is None:
        return past_tokens
    if isinstance(past_tokens, int | float):
        return min(past_tokens, window_tokens)
    return np.minimum(past_tokens, window_tokens)
