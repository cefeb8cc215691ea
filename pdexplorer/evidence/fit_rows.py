"""Rows as one group is fitted to them, and the record of how well it was."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.efficiency import AttentionEfficiency, Fit
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.evidence.columns import Block, Floats
from pdexplorer.evidence.fitted_numbers import SOFTMAX_DIMS
from pdexplorer.physics.formats import split_formats


def fit_record(errors: Floats, weights: Floats) -> Fit:
    """Errors of a fit: plain median and P90, and a spread in which rows count by their share of a step."""
    if not errors.size:
        return Fit("", "", "", "", "fitted", "", 0, None, None, 0.15)
    square = np.minimum(errors, 0.5) ** 2
    return Fit(
        *("", "", "", ""),
        kind="fitted",
        source="",
        points=int(errors.size),
        median_error_fraction=round(float(np.median(errors)), 4),
        p90_error_fraction=round(float(np.quantile(errors, 0.9)), 4),
        spread_fraction=round(float(np.sqrt(weights @ square / weights.sum())), 4),
    )


class Rows:
    """A block's rows as one group is fitted to them."""

    def __init__(self, block: Block, measured_s: Floats, base_s: Floats) -> None:
        self.block = block
        self.measured_s = measured_s
        self.base_s = base_s
        self.use: NDArray[np.bool_] = np.isfinite(measured_s) & (measured_s > 0)
        self.weight = np.clip(measured_s / block.total_s, 0.1, 1.0)


def for_chip(entry: Any, accelerator: Accelerator) -> Any:
    """What is known of a chip or engine without a fit: its exponentials, the heads its latent kernel pads
    to.
    """
    if isinstance(entry, AttentionEfficiency):
        return replace(entry, softmax_dims=SOFTMAX_DIMS.get(accelerator.family, entry.softmax_dims))
    return entry


def dense_format(block: Block) -> str:
    """Format of the projections."""
    return split_formats(block.instance.weight_format, block.instance.architecture.experts > 0)[0]


def expert_format(block: Block) -> str:
    """Format of the routed experts."""
    return split_formats(block.instance.weight_format, True)[1]
