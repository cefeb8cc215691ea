"""Classes of requests with the longest prompts told apart: limits at a high percentile are about those."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.classes import RequestClasses, request_classes
from pdexplorer.workload.lengths import length_quantiles

Array = NDArray[np.float64]

_SHARES = (0.5, 0.25, 0.125, 0.125)
"""Parts of the class with the longest prompts, in order of length."""
_SUBPOINTS = 64


def tailed_classes(workload: Workload, points: int) -> RequestClasses:
    """As request_classes, with the top stratum of prompts cut again; means stay. ValueError as there."""
    classes = request_classes(workload, points)
    if workload.input_distribution == "fixed":
        return classes
    top = classes.input_tokens >= classes.input_tokens.max() * (1.0 - 1e-12)
    parts = _parts(workload, points) * float(classes.input_tokens.max())
    rest, shares = ~top, np.array(_SHARES)
    count = len(shares)
    inputs = np.tile(parts, int(top.sum()))
    hit = np.repeat((classes.cached_tokens / classes.input_tokens)[top], count)
    return RequestClasses(
        np.concatenate((classes.weight[rest], np.outer(classes.weight[top], shares).ravel())),
        np.concatenate((classes.input_tokens[rest], inputs)),
        np.concatenate((classes.cached_tokens[rest], np.minimum(hit * inputs, inputs - 1.0))),
        np.concatenate((classes.output_tokens[rest], np.repeat(classes.output_tokens[top], count))),
    )


def moments_within(workload: Workload, points: int) -> tuple[Array, Array]:
    """Second and third moment of a class's prompt lengths over powers of its mean, in order of length; ones
    for fixed lengths and traces.
    """
    if workload.input_distribution in ("fixed", "trace"):
        return np.ones(1), np.ones(1)
    inside = (np.arange(_SUBPOINTS) + 0.5) / _SUBPOINTS
    strata = (np.arange(points - 1)[:, None] + inside) / points
    u = np.concatenate((strata, _tail_quantiles(points)))
    lengths = length_quantiles(
        workload.input_distribution, workload.input_tokens, workload.input_p95_tokens, u.ravel()
    ).reshape(u.shape)
    ratio = lengths / lengths.mean(axis=1, keepdims=True)
    return np.asarray((ratio**2).mean(axis=1)), np.asarray((ratio**3).mean(axis=1))


def _tail_quantiles(points: int) -> Array:
    """Probabilities inside each part of the class with the longest prompts."""
    edges = np.concatenate(([0.0], np.cumsum(_SHARES)))
    inside = (np.arange(_SUBPOINTS) + 0.5) / _SUBPOINTS
    return np.asarray(1.0 - (1.0 - (edges[:-1, None] + np.diff(edges)[:, None] * inside)) / points)


def _parts(workload: Workload, points: int) -> Array:
    """Mean prompt of each part over the mean of the stratum; one where a trace gives the lengths."""
    edges = np.concatenate(([0.0], np.cumsum(_SHARES)))
    if workload.input_distribution == "trace":
        fine = np.sort(request_classes(workload, points * 8).input_tokens)[-8:]
        means = [fine[int(a * 8) : int(b * 8)].mean() for a, b in pairwise(edges)]
    else:
        u = _tail_quantiles(points)
        lengths = length_quantiles(
            workload.input_distribution, workload.input_tokens, workload.input_p95_tokens, u.ravel()
        )
        means = list(lengths.reshape(len(_SHARES), _SUBPOINTS).mean(axis=1))
    return np.asarray(np.array(means) / float(np.dot(_SHARES, means)))
