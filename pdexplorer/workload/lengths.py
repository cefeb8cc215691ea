"""How long prompts and answers are: distributions given by a mean and a 95th percentile.

fixed: every request has the mean. lognormal: the usual fit to chat traffic. heavy_tail: a lognormal body up
to the 95th percentile, a bounded Pareto above it (index 1.5, at most 20 times the percentile), with the
same mean and percentile; its top 5% of requests carry far more tokens.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pdexplorer.workload.normal import Z95, normal_cdf, normal_quantile

DEFAULT_P95_TO_MEAN_RATIO = 2.5
"""Where no percentile is given; chat and RAG traces lie between 2 and 3."""

_TAIL_INDEX = 1.5
_TAIL_SPAN_RATIO = 20.0
_TAIL_SHARE = 0.05


def length_quantiles(
    distribution: str, mean_tokens: float, p95_tokens: float | None, u: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Length in tokens at each probability u in (0, 1); shape of u, at least 1.

    A lognormal's 95th percentile cannot exceed exp(z95²/2) = 3.87 times its mean: above that the widest one
    is used.
    Raises ValueError for an unknown distribution.
    """
    u = np.asarray(u, dtype=float)
    ratio = DEFAULT_P95_TO_MEAN_RATIO if p95_tokens is None else max(1.0, p95_tokens / mean_tokens)
    if distribution == "fixed":
        lengths = np.full(u.shape, float(mean_tokens))
    elif distribution == "lognormal":
        sigma = lognormal_sigma(ratio)
        lengths = mean_tokens * np.exp(sigma * normal_quantile(u) - 0.5 * sigma * sigma)
    elif distribution == "heavy_tail":
        lengths = _heavy_tail(mean_tokens, ratio, u)
    else:
        raise ValueError(f"length distribution = {distribution!r} must be fixed, lognormal or heavy_tail")
    return np.asarray(np.maximum(lengths, 1.0))


def length_sample(
    distribution: str,
    mean_tokens: float,
    p95_tokens: float | None,
    requests: int,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """That many independent lengths in whole tokens, at least 1."""
    lengths = length_quantiles(distribution, mean_tokens, p95_tokens, generator.random(requests))
    return np.maximum(np.rint(lengths), 1.0).astype(np.int64)


def lognormal_sigma(p95_to_mean_ratio: float) -> float:
    """Log-scale width with that ratio: the smaller root of z·σ − σ²/2 = ln(ratio)."""
    return Z95 - math.sqrt(max(0.0, Z95 * Z95 - 2.0 * math.log(p95_to_mean_ratio)))


def _heavy_tail(mean_tokens: float, ratio: float, u: NDArray[np.float64]) -> NDArray[np.float64]:
    p95_tokens = mean_tokens * ratio
    cut = 1.0 - _TAIL_SPAN_RATIO**-_TAIL_INDEX
    tail_mean = _TAIL_INDEX / (_TAIL_INDEX - 1.0) * (1.0 - _TAIL_SPAN_RATIO ** (1.0 - _TAIL_INDEX)) / cut
    sigma = _body_sigma(1.0 / ratio - _TAIL_SHARE * tail_mean)
    body = np.exp(sigma * (normal_quantile(u) - Z95))
    above = np.clip((u - (1.0 - _TAIL_SHARE)) / _TAIL_SHARE, 0.0, 1.0)
    tail = (1.0 - above * cut) ** (-1.0 / _TAIL_INDEX)
    return p95_tokens * np.where(u < 1.0 - _TAIL_SHARE, body, tail)


def _body_sigma(share: float) -> float:
    """Width at which the body below the 95th percentile has this mean, in units of that percentile."""
    low, high = 0.0, 1e3
    for _ in range(80):
        middle = 0.5 * (low + high)
        # Beyond this width the body has no weight; the product below would overflow.
        mean = 0.0
        if middle < 30.0:
            mean = math.exp(-middle * Z95 + 0.5 * middle * middle) * normal_cdf(Z95 - middle)
        low, high = (middle, high) if mean > share else (low, middle)
    return 0.5 * (low + high)
