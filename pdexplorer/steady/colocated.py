"""The colocated fleet in closed form: prefill chunks and decodes share each instance's steps.

Two kinds of steps. Mixed: c prompt tokens beside the decodes, time t_m; decode-only: t_d. A request needs
k mixed steps for its prompt and n decode steps; with b requests decoding on average, Little's law and a
full clock give
    requests per second = 1 / (n · t_d / b + k · (t_m − t_d)),
so the state follows from b without iteration. Spreading the prompt evenly over all steps instead would
hide it under the reading of weights, which no engine can. Where prompts run first or unchunked, decodes
stop meanwhile and t_m − t_d becomes the whole time of the prompt.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.load import Load
from pdexplorer.steady.pool import DecodeGrid, decode_grid, seen_batch
from pdexplorer.steady.table import Rows, StepTable, locate

Array = NDArray[np.float64]

_LEAST_CHUNK_TOKENS = 16.0
_CEIL_RAMP = 0.05
_PACKING_ROUNDS = 2
_WHOLE = 1e12
"""A budget that cuts no prompt."""


@dataclass(frozen=True, eq=False)
class ColocatedDesigns:
    """What stays the same while the load on an instance varies.

    A design is an instance of the table, by its row, with a chunk budget: arrays of four axes that broadcast
    with the cells, one axis each for all designs in all cells, or along the cells for one design in each.
    """

    load: Load
    table: StepTable
    rows: Rows
    budgets: Array
    policy: str
    max_batch: float
    grid: DecodeGrid
    past: Array
    past_slope: Array
    middle: Array
    alone_s: Array | None

    @property
    def shape(self) -> tuple[int, ...]:
        cells = np.broadcast_shapes(
            self.load.new_tokens.shape[1:],
            self.load.output_tokens.shape[1:],
            self.load.rate_per_s.shape,
            self.load.ttft_limit_s.shape,
            self.load.tpot_limit_s.shape,
            self.load.e2e_limit_s.shape,
            self.load.arrival_cv2.shape,
            self.load.hop_s.shape,
            () if self.load.concurrency is None else self.load.concurrency.shape,
        )
        return np.broadcast_shapes(self.rows.shape, self.budgets.shape, (1, 1, *cells))

    @cached_property
    def ranks(self) -> Array:
        """Attention ranks of the instances."""
        return np.asarray(self.table.ranks[self.rows])

    @cached_property
    def kv_tokens(self) -> Array:
        """What the instances hold."""
        return np.asarray(self.table.kv_tokens[self.rows])


@dataclass(frozen=True, eq=False)
class ColocatedFlow:
    """One instance at a given number in flight. Times in seconds, rates per second, shape (instances,
    budgets, y, x).

    service_s and interference_s have the classes in front: what a prompt takes, and what it adds to the
    others. full_share: of the time of mixed steps, what they would take if every one were full.
    """

    in_flight: Array
    batch: Array
    active: Array
    rate_per_s: Array
    step_s: Array
    slope_s: Array
    mixed_s: Array
    alone_step_s: Array
    chunk_tokens: Array
    mixed_steps: Array
    service_s: Array
    interference_s: Array
    utilisation: Array
    tpot_s: Array
    full_share: Array

    @property
    def occupied(self) -> Array:
        """Share of time that an instance has a request, decoding or prefilling."""
        return np.asarray(1.0 - (1.0 - self.active) * (1.0 - np.minimum(self.utilisation, 1.0)))


def every_design(
    load: Load, table: StepTable, budgets: Array, policy: str, max_batch: float
) -> ColocatedDesigns:
    """Every instance of the table under every chunk budget (budgets,) in every cell."""
    return colocated_designs(load, table, table.every, budgets[None, :, None, None], policy, max_batch)


def colocated_designs(
    load: Load, table: StepTable, rows: Rows, budgets: Array, policy: str, max_batch: float
) -> ColocatedDesigns:
    """rows, budgets: as ColocatedDesigns has them; policy as scenario.engine.chunking."""
    work = np.maximum(load.mean_new_tokens, 1e-9)
    middle = load.mean(load.new_tokens * (load.past_tokens + 0.5 * load.new_tokens)) / work
    past = table.past_at(middle, rows)
    slope = (table.past_at(middle * 1.01 + 1.0, rows) - past) / (0.01 * middle + 1.0)
    alone = None
    if policy != "chunked":
        new, cached = load.new_tokens[:, None, None], load.past_tokens[:, None, None]
        alone = table.prefill_s(new, cached, _WHOLE if policy == "unchunked" else budgets, rows)
    return ColocatedDesigns(
        load, table, rows, budgets, policy, max_batch, decode_grid(table, load, rows), past, slope, middle,
        alone,
    )  # fmt: skip


def colocated_flow(designs: ColocatedDesigns, in_flight: Array) -> ColocatedFlow:
    """The state of every design with that mean number of requests decoding on an instance."""
    load, table = designs.load, designs.table
    batch, active = seen_batch(in_flight, load.offline)
    at_batch = locate(table.batch_nodes, batch)
    step_s, slope_s = designs.grid.read(*at_batch)
    steps = load.mean_decode_steps
    if designs.alone_s is not None:
        return _stopping_flow(designs, in_flight, batch, active, step_s, slope_s, steps)
    ranks = designs.ranks
    chunk = np.maximum(designs.budgets - batch, _LEAST_CHUNK_TOKENS * ranks)
    new = load.new_tokens[:, None, None]
    latency_steps = _soft_ceil(new / chunk)
    fewest = load.mean_new_tokens / chunk
    most = np.maximum(load.over(latency_steps), fewest)
    several = np.minimum(np.maximum(most - 1.0, 0.0), 1.0)
    mixed_steps = most - 0.5 * (most - fewest)
    for _ in range(_PACKING_ROUNDS):
        chunk_tokens = load.mean_new_tokens / mixed_steps
        # A prompt runs on one attention rank, and the step lasts as long as its fullest rank.
        as_spread = np.maximum(ranks * np.minimum(load.mean_new_tokens, chunk_tokens), chunk_tokens)
        at_chunk = locate(table.prompt_nodes, as_spread)
        added, alone = added_s(designs, as_spread, at_chunk, chunk_tokens / load.mean_new_tokens, at_batch)
        rate = 1.0 / (steps * step_s / in_flight + mixed_steps * added)
        step_of_prompt = active * (step_s + added) + (1.0 - active) * alone
        mixed_steps = (
            fewest
            if load.offline
            else _packed(rate, step_of_prompt, active * step_s, mixed_steps, most, fewest, several)
        )
    rate = 1.0 / (steps * step_s / in_flight + mixed_steps * added)
    busy = rate * mixed_steps * step_of_prompt
    # With every step mixed no more prompts fit, however many decode; utilisation then says how far beyond.
    rate = rate / np.maximum(busy, 1.0)
    # Time is all but linear in the tokens of a step: a fixed part a step, and a part per token.
    other = np.where(chunk_tokens < 0.7 * chunk, chunk, 0.5 * chunk_tokens)
    spread = np.maximum(ranks * np.minimum(load.mean_new_tokens, other), other)
    at_other = locate(table.prompt_nodes, spread)
    added_other, alone_other = added_s(designs, spread, at_other, other / load.mean_new_tokens, at_batch)
    per_token = np.maximum((added_other - added) / (other - chunk_tokens), 0.0)
    fixed = np.maximum(added - per_token * chunk_tokens, 0.0)
    of_other = active * (step_s + added_other) + (1.0 - active) * alone_other
    prompt_per_token = np.maximum((of_other - step_of_prompt) / (other - chunk_tokens), 0.0)
    prompt_fixed = np.maximum(step_of_prompt - prompt_per_token * chunk_tokens, 0.0)
    # What a past adds per token, by class; never so little that a token takes no time.
    of_class = load.past_tokens + 0.5 * load.new_tokens - designs.middle
    late = _of_chunk(designs.past_slope, *at_chunk) / ranks / chunk_tokens * of_class[:, None, None]
    service = latency_steps * prompt_fixed + new * np.maximum(prompt_per_token + late, 0.2 * prompt_per_token)
    share = latency_steps * (mixed_steps / np.maximum(most, 1e-12))
    interference = share * fixed + new * np.maximum(per_token + late, 0.2 * per_token)
    full = (
        fewest * (prompt_fixed + prompt_per_token * chunk) / np.maximum(mixed_steps * step_of_prompt, 1e-12)
    )
    return ColocatedFlow(
        in_flight, batch, active, rate, step_s, slope_s, step_s + added, alone, chunk_tokens, mixed_steps,
        service, interference, busy, in_flight / (rate * steps), np.minimum(full, 1.0),
    )  # fmt: skip


def _stopping_flow(
    designs: ColocatedDesigns,
    in_flight: Array,
    batch: Array,
    active: Array,
    step_s: Array,
    slope_s: Array,
    steps: Array,
) -> ColocatedFlow:
    """Decodes stop while prompts run, whole or in steps of the budget."""
    load, alone = designs.load, designs.alone_s
    assert alone is not None  # the caller asked
    work = load.over(alone)
    rate = 1.0 / (steps * step_s / in_flight + work)
    share = np.ones_like(work)
    if designs.policy == "prefill_first":
        share = load.over(_soft_ceil(load.new_tokens[:, None, None] / designs.budgets))
    tokens = load.mean_new_tokens / share
    return ColocatedFlow(
        in_flight, batch, active, rate, step_s, slope_s, work / share, work / share, tokens + 0.0 * rate,
        share + 0.0 * rate, alone + 0.0 * rate, alone + 0.0 * rate, rate * work,
        in_flight / (rate * steps), np.ones_like(rate),
    )  # fmt: skip


def _packed(
    rate: Array, mixed_s: Array, decode_s: Array, now: Array, most: Array, fewest: Array, several: Array
) -> Array:
    """Mixed steps a prompt takes up: those that wait together share them.

    Short prompts: a mixed step takes all that came during the step before, or, where none came, the next
    one and what follows it in the same decode step. Long ones: the last step of each has room for the next
    if that is there already.
    """
    during = rate * mixed_s
    short = 1.0 / (during + np.exp(-during) * (1.0 + 0.5 * rate * decode_s))
    long = most - (most - fewest) * np.minimum(during * now, 1.0)
    return np.asarray(np.maximum(short + several * (long - short), fewest))


def _soft_ceil(x: Array) -> Array:
    """Ceiling with a short ramp instead of a jump, so that a load always has a state; at least 1."""
    whole = np.floor(x)
    return np.asarray(np.maximum(whole + np.minimum((x - whole) / _CEIL_RAMP, 1.0), 1.0))


def added_s(
    designs: ColocatedDesigns,
    spread: Array,
    at_chunk: tuple[Rows, Array],
    prompts: Array,
    at_batch: tuple[Rows, Array],
) -> tuple[Array, Array]:
    """(what prompt tokens add to a step that decodes, a step of them alone).

    spread: the tokens of the fullest attention rank × ranks, at_chunk: where those lie in the table; prompts:
    how many of the ranks have any.
    """
    table = designs.table
    beside, alone = _read(table.added_s, designs.rows, at_chunk, at_batch)
    ranks = designs.ranks
    if np.any(ranks > 1.0):
        lone = _read(table.lone_s, designs.rows, locate(table.prompt_nodes, spread / ranks), at_batch)
        share = np.minimum(np.maximum((prompts - 1.0) / np.maximum(ranks - 1.0, 1.0), 0.0), 1.0)
        beside, alone = beside * share + lone[0] * (1.0 - share), alone * share + lone[1] * (1.0 - share)
    past = _of_chunk(designs.past, *at_chunk)
    return beside + past, alone + past


def _read(
    values: Array, rows: Rows, at_chunk: tuple[Rows, Array], at_batch: tuple[Rows, Array]
) -> tuple[Array, Array]:
    """(beside decodes, alone) from (instances, tokens, batch + 1), bilinear."""
    (c, c_part), (b, b_part) = at_chunk, at_batch
    flat, columns = values.reshape(-1), values.shape[2]
    index = (rows * values.shape[1] + c) * columns
    beside = index + b + 1
    low = flat[beside] + (flat[beside + 1] - flat[beside]) * b_part
    high = flat[beside + columns] + (flat[beside + columns + 1] - flat[beside + columns]) * b_part
    return low + (high - low) * c_part, flat[index] + (flat[index + columns] - flat[index]) * c_part


def _of_chunk(values: Array, at: Rows, part: Array) -> Array:
    """Read (tokens, instances, 1, y, x) at a token count per design and cell."""
    stride = math.prod(values.shape[1:])
    index = at * stride + np.arange(stride).reshape(values.shape[1:])
    flat = values.reshape(-1)
    return np.asarray(flat[index] + (flat[index + stride] - flat[index]) * part)


def one_design(designs: ColocatedDesigns, i: int, c: int) -> ColocatedDesigns:
    """One design of all, in every cell."""
    rows = slice(i, i + 1)
    return replace(
        designs,
        rows=designs.rows[rows],
        budgets=designs.budgets[:, c : c + 1],
        grid=replace(designs.grid, offset=designs.grid.offset[rows]),
        past=np.ascontiguousarray(designs.past[:, rows]),
        past_slope=np.ascontiguousarray(designs.past_slope[:, rows]),
        alone_s=None if designs.alone_s is None else designs.alone_s[:, rows, c : c + 1],
    )
