"""Rows as one section is fitted to them, its constants, and the record of how well it was."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.efficiency import Fit
from pdexplorer.evidence.columns import Block, Floats
from pdexplorer.evidence.fitted_numbers import (
    ATTENTION,
    ELEMENTWISE,
    EXPERTS,
    GEMM,
    JOINED_ATTENTION,
    LATENT_ABSORBED,
    LATENT_ATTENTION,
    LATENT_HEADS_FLOOR,
    SOFTMAX_DIMS,
    Section,
)
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


def row_of(record: Fit, constants: dict[str, float]) -> dict[str, Any]:
    """A stored row: where numbers come from and how good they are, and the constants of their kernels."""
    return {f.name: getattr(record, f.name) for f in fields(record)} | constants


def constants_of(section: Section, family: str | None, engine: str) -> dict[str, float]:
    """What is known of kernels without a fit: a chip's exponentials, the heads an engine's latent kernel pads
    to.
    """
    constants = dict(section.constants)
    if section.part == "attention":
        constants["softmax_dims"] = SOFTMAX_DIMS.get(family or "", constants["softmax_dims"])
    if section is LATENT_ATTENTION:
        constants["decode_heads_floor"] = LATENT_HEADS_FLOOR.get(engine, constants["decode_heads_floor"])
        constants["prefill_absorbed"] = LATENT_ABSORBED.get(engine, constants["prefill_absorbed"])
    fitted = {name for numbers in section.numbers for name in numbers.start}
    return {name: value for name, value in constants.items() if name not in fitted}


def format_of(section: Section, block: Block) -> str:
    """Format by which a section tells the block's kernels apart."""
    if section is ELEMENTWISE:
        return "any"
    if section is GEMM:
        return dense_format(block)
    if section is EXPERTS:
        return split_formats(block.instance.weight_format, block.instance.architecture)[1]
    if section is LATENT_ATTENTION:
        return f"mla_{block.instance.kv_format}"
    if section in (ATTENTION, JOINED_ATTENTION):
        return block.instance.kv_format
    return section.name


def dense_format(block: Block) -> str:
    """Format of the projections."""
    return split_formats(block.instance.weight_format, block.instance.architecture)[0]


class Rows:
    """A block's rows as one group is fitted to them."""

    def __init__(self, block: Block, measured_s: Floats, base_s: Floats) -> None:
        self.block = block
        self.measured_s = measured_s
        self.base_s = base_s
        self.use: NDArray[np.bool_] = np.isfinite(measured_s) & (measured_s > 0)
        self.weight = np.clip(measured_s / block.total_s, 0.1, 1.0)
