"""What stays the same of a disaggregated fleet while its load varies."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.load import Load
from pdexplorer.steady.pool import DecodeGrid, decode_grid
from pdexplorer.steady.table import Rows, StepTable

Array = NDArray[np.float64]

_LONGEST = 0.743
_FULL_STEP_TOKENS = 65_536
"""A step of more is no cheaper a token: what is fixed of it is spread thin long before."""


@dataclass(frozen=True, eq=False)
class Wire:
    """KV transfers. moved_bytes (classes, 1, decode, y, x); rates (prefill, 1, y, x) and (1, decode, y,
    x).
    """

    moved_bytes: Array
    egress_byte_per_s: Array
    ingress_byte_per_s: Array
    latency_s: Array
    fabric_fraction: float
    layerwise_overlap: bool
    layers: int


@dataclass(frozen=True, eq=False)
class DisaggregatedDesigns:
    """What stays the same while the load varies. lone_s (classes, prefill, 1, y, x): a prompt with nothing
    beside; held_share: of that time, how long its instance can start no other; full_s: the same for a prompt
    of a full step.

    A design is a pair of instances, by their rows in the tables: arrays of four axes that broadcast with the
    cells, one axis each for all pairs in all cells, or along the cells for one pair in each.
    """

    load: Load
    prefill: StepTable
    decode: StepTable
    prefill_rows: Rows
    decode_rows: Rows
    grid: DecodeGrid
    wire: Wire
    max_batch: float
    first_token_from_decode: bool
    lone_s: Array
    held_share: Array
    full_s: Array
    most_prompts: Array

    @property
    def cells(self) -> tuple[int, ...]:
        load = self.load
        return np.broadcast_shapes(
            load.new_tokens.shape[1:],
            load.output_tokens.shape[1:],
            load.rate_per_s.shape,
            load.ttft_limit_s.shape,
            load.tpot_limit_s.shape,
            load.e2e_limit_s.shape,
            load.arrival_cv2.shape,
            load.hop_s.shape,
            self.wire.egress_byte_per_s.shape[2:],
            self.wire.ingress_byte_per_s.shape[2:],
            self.wire.latency_s.shape,
            () if load.concurrency is None else load.concurrency.shape,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(self.prefill_rows.shape, self.decode_rows.shape, (1, 1, *self.cells))

    @cached_property
    def kv_tokens(self) -> Array:
        """What the decode instances hold."""
        return np.asarray(self.decode.kv_tokens[self.decode_rows])

    @cached_property
    def room_share(self) -> Array:
        """Share of each class whose prompt a prefill instance can hold and whose whole sequence a decode
        instance can, (classes, prefill, decode, y, x): one longer is refused, however idle the pools are.
        """
        load = self.load
        low, high = load.low_ratio[:, None, None, None, None], load.high_ratio[:, None, None, None, None]
        prompt, output = load.input_tokens[:, None, None], load.output_tokens[:, None, None]

        def held(kv_tokens: Array, tokens: Array) -> Array:
            ratio = kv_tokens.astype(load.weight.dtype) / tokens
            return np.minimum(np.maximum((ratio - low) / np.maximum(high - low, 1e-6), 0.0), 1.0)

        of_prefill = held(self.prefill.kv_tokens[self.prefill_rows], prompt)
        return np.asarray(np.minimum(of_prefill, held(self.kv_tokens, prompt + output)))

    @cached_property
    def lone_mean_s(self) -> Array:
        return self.load.over(self.lone_s)

    @cached_property
    def lone_moments(self) -> tuple[Array, Array]:
        """Second and third of a lone prompt's time."""
        return self.load.second(self.lone_s), self.load.third(self.lone_s)

    @cached_property
    def lone_cv2(self) -> Array:
        return np.asarray(self.lone_moments[0] / self.lone_mean_s**2 - 1.0)

    @cached_property
    def moved_mean_bytes(self) -> Array:
        return self.load.over(self.wire.moved_bytes)

    @cached_property
    def moved_moments(self) -> tuple[Array, Array]:
        """Second and third of what moves over its mean."""
        ratio = self.wire.moved_bytes / np.maximum(self.moved_mean_bytes, 1e-9)
        return self.load.second(ratio), self.load.third(ratio)

    @property
    def moved_cv2(self) -> Array:
        return self.moved_moments[0] - 1.0

    @cached_property
    def decode_steps(self) -> Array:
        """Steps a request takes on the decode side: the first token is one of them where decode emits it."""
        steps = self.load.mean_decode_steps
        return steps + 1.0 if self.first_token_from_decode else steps


def disaggregated_designs(
    load: Load,
    prefill: StepTable,
    decode: StepTable,
    wire: Wire,
    prefill_batch_tokens: float,
    max_batch: float,
    first_token_from_decode: bool,
    prefill_rows: Rows,
    decode_rows: Rows,
) -> DisaggregatedDesigns:
    """prefill_rows, decode_rows: as DisaggregatedDesigns has them."""
    prompt, cached = load.new_tokens[:, None, None], load.past_tokens[:, None, None]
    # Prompts run whole, and one with nothing beside it on one attention rank.
    lone = prefill.few_prompts_s(prompt, cached, 1.0, prefill_rows)
    mean_lone = load.over(lone)
    new = load.mean_new_tokens
    middle = load.mean(load.new_tokens * (load.past_tokens + 0.5 * load.new_tokens)) / np.maximum(new, 1e-9)
    # Prompts that fill a step together, each on an attention rank of its own while there are enough.
    variance = np.maximum(load.second(load.new_tokens) - new * new, 0.0)
    deviation = np.sqrt(variance)

    def prompts_in(tokens: float) -> Array:
        # Only whole prompts fit: the last one's room stays empty, half of it where lengths vary little.
        fit = tokens / new - 0.5 * np.maximum(1.0 - variance / (new * new), 0.0)
        fit = np.where(variance < 1e-3 * new * new, np.floor(tokens / new), fit)
        return np.asarray(np.maximum(fit, 1.0))

    full_tokens = min(prefill_batch_tokens, _FULL_STEP_TOKENS)
    prompts = prompts_in(full_tokens)
    # The longest of m prompts is about 0.74 · ln m standard deviations above their mean.
    ranks = prefill.ranks[prefill_rows]
    longest = new + deviation * _LONGEST * np.log(np.minimum(prompts, ranks))
    each = np.maximum(np.minimum(longest, full_tokens), full_tokens / ranks)
    together = np.maximum(prompts * new / each, 1.0)
    full = prefill.few_prompts_s(each, middle - 0.5 * each, together, prefill_rows) / prompts
    full = np.where(new >= full_tokens, mean_lone, full)
    held = prefill.held_share[prefill_rows]
    return DisaggregatedDesigns(
        load, prefill, decode, prefill_rows, decode_rows, decode_grid(decode, load, decode_rows), wire,
        max_batch, first_token_from_decode, lone, held,
        np.minimum(full, mean_lone) * held, np.broadcast_to(prompts_in(prefill_batch_tokens), full.shape),
    )  # fmt: skip


def every_pair(
    load: Load,
    prefill: StepTable,
    decode: StepTable,
    wire: Wire,
    prefill_batch_tokens: float,
    max_batch: float,
    first_token_from_decode: bool,
) -> DisaggregatedDesigns:
    """Every prefill instance of one table with every decode instance of the other, in every cell."""
    return disaggregated_designs(
        load, prefill, decode, wire, prefill_batch_tokens, max_batch, first_token_from_decode, prefill.every,
        np.moveaxis(decode.every, 0, 1),
    )  # fmt: skip


def one_pair(designs: DisaggregatedDesigns, p: int, d: int) -> DisaggregatedDesigns:
    """One pair of many, in one cell."""
    return chosen_pairs(designs, np.array([p]), np.array([d]))


def chosen_pairs(designs: DisaggregatedDesigns, p: Rows, d: Rows) -> DisaggregatedDesigns:
    """Pairs (n,) of designs that are for one cell, one after another along the cells: (1, 1, 1, n)."""
    wire = designs.wire

    def of_p(values: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(values[p, 0, 0, 0])[None, None, None]

    def of_d(values: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(values[0, d, 0, 0])[None, None, None]

    def by_class(values: Array) -> Array:
        return np.ascontiguousarray(values)[:, None, None, None]

    return replace(
        designs,
        prefill_rows=of_p(designs.prefill_rows),
        decode_rows=of_d(designs.decode_rows),
        grid=replace(designs.grid, offset=of_d(designs.grid.offset)),
        wire=replace(
            wire,
            moved_bytes=by_class(wire.moved_bytes[:, 0, d, 0, 0]),
            egress_byte_per_s=of_p(wire.egress_byte_per_s),
            ingress_byte_per_s=of_d(wire.ingress_byte_per_s),
        ),
        lone_s=by_class(designs.lone_s[:, p, 0, 0, 0]),
        held_share=of_p(designs.held_share),
        full_s=of_p(designs.full_s),
        most_prompts=of_p(designs.most_prompts),
    )
