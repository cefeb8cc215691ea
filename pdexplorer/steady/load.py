"""The demand a fleet is asked to carry, as broadcastable arrays: one cell of a map each, or one for a
verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.workload_block import Workload
from pdexplorer.steady.classes import moments_within, tailed_classes
from pdexplorer.workload.classes import RequestClasses

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Array = NDArray[np.float64]
Record = TypeVar("Record", bound="DataclassInstance")

LOAD_AXES = (
    "workload.input_tokens",
    "workload.output_tokens",
    "workload.prefix_hit_fraction",
    "workload.rate_per_s",
    "workload.burstiness",
    "workload.peak_to_mean_ratio",
    "workload.concurrency",
    "slo.ttft_s",
    "slo.tpot_ms",
    "slo.e2e_s",
    "routing.overhead_ms",
)
"""Scenario keys that may vary over the cells of a map in one vectorised call."""

NO_LIMIT_S = 1e9


@dataclass(frozen=True, eq=False)
class Load:
    """Traffic and limits. Cells are two-dimensional; a quantity that does not vary along an axis has
    length 1.

    weight, low_ratio, high_ratio, second_ratio, third_ratio: (classes,); the ratios are a class's edges over
    its mean prompt, and the moments of its prompts over powers of that mean.
    new_tokens, past_tokens, output_tokens: (classes, y, x). The rest: (y, x). rate_per_s is the peak's.
    concurrency: set in a closed loop only. percentile_fraction: share of requests that must meet every
    limit.
    """

    weight: Array
    low_ratio: Array
    high_ratio: Array
    second_ratio: Array
    third_ratio: Array
    new_tokens: Array
    past_tokens: Array
    output_tokens: Array
    rate_per_s: Array
    arrival_cv2: Array
    ttft_limit_s: Array
    tpot_limit_s: Array
    e2e_limit_s: Array
    hop_s: Array
    percentile_fraction: float
    concurrency: Array | None
    offline: bool
    least_loaded: bool

    @property
    def column(self) -> Array:
        """Class weights shaped to weigh arrays of any rank ≤ 5 along their first axis."""
        return self.weight[:, None, None]

    def mean(self, per_class: Array) -> Array:
        """Weighted mean over classes of (classes, y, x): (y, x)."""
        return np.asarray((self.column * per_class).sum(axis=0))

    @cached_property
    def decode_steps(self) -> Array:
        """Tokens after the first, by class."""
        return np.maximum(self.output_tokens - 1.0, 0.0)

    @cached_property
    def input_tokens(self) -> Array:
        return self.new_tokens + self.past_tokens

    @cached_property
    def waits_freely(self) -> NDArray[np.bool_]:
        """Where a first token may come at any time: what finds no room waits outside."""
        return np.asarray((self.ttft_limit_s >= NO_LIMIT_S) & (self.e2e_limit_s >= NO_LIMIT_S))

    @cached_property
    def limits_e2e(self) -> bool:
        """Whether the whole request has a limit anywhere."""
        return bool(np.any(self.e2e_limit_s < NO_LIMIT_S))

    @cached_property
    def mean_new_tokens(self) -> Array:
        return self.mean(self.new_tokens)

    @cached_property
    def mean_input_tokens(self) -> Array:
        return self.mean(self.input_tokens)

    @cached_property
    def mean_decode_steps(self) -> Array:
        """Not below 0.001, so that requests of one token still have a decode side to divide by."""
        return np.maximum(self.mean(self.decode_steps), 1e-3)

    def over(self, per_class: Array) -> Array:
        """Weighted mean of (classes, design, design, y, x) over its classes."""
        return self._weighed(self.weight, per_class)

    def second(self, per_class: Array) -> Array:
        """Second moment of what grows with the prompt, (classes, ...) by its mean in each class."""
        return self._weighed(self.weight * self.second_ratio, per_class * per_class)

    def third(self, per_class: Array) -> Array:
        """Third moment, likewise."""
        return self._weighed(self.weight * self.third_ratio, per_class * per_class * per_class)

    def _weighed(self, weight: Array, values: Array) -> Array:
        return np.asarray((weight @ values.reshape(len(weight), -1)).reshape(values.shape[1:]))

    @cached_property
    def context_tokens(self) -> Array:
        """Mean context of a decoding request: long outputs stay longer, so classes weigh by their steps."""
        steps = np.maximum(self.decode_steps, 1e-6)
        held = self.input_tokens + 0.5 * self.output_tokens
        return self.mean(steps * held) / self.mean(steps)

    @cached_property
    def context_cv2(self) -> Array:
        """Squared coefficient of variation of that context over decoding requests."""
        steps = np.maximum(self.decode_steps, 1e-6)
        held = self.input_tokens + 0.5 * self.output_tokens
        first = self.mean(steps * held) / self.mean(steps)
        second = self.mean(steps * held * held) / self.mean(steps)
        return np.asarray(np.maximum(second / (first * first) - 1.0, 0.0))


def load_of(scenario: Scenario, axes: Mapping[str, Array] | None = None, points: int = 16) -> Load:
    """The scenario's demand; axes replaces keys of LOAD_AXES by arrays of cells, shape broadcasting to (y,
    x).

    Lengths scale with their mean, so a percentile given beside it scales too.
    """
    axes = {key: np.atleast_2d(np.asarray(value, dtype=float)) for key, value in (axes or {}).items()}
    workload, slo = scenario.workload, scenario.slo
    classes = _classes(workload, points)
    inputs = _scaled(classes.input_tokens, axes.get("workload.input_tokens"), classes.weight)
    outputs = _scaled(classes.output_tokens, axes.get("workload.output_tokens"), classes.weight)
    weight = classes.weight
    if "workload.prefix_hit_fraction" in axes:
        weight, inputs, outputs, cached = _with_hits(scenario, axes, points)
    else:
        share = (classes.cached_tokens / classes.input_tokens)[:, None, None]
        cached = np.minimum(share * inputs, inputs - 1.0)
    low, high = _edges(inputs[:, 0, 0])
    second, third = _within(workload, points, inputs[:, 0, 0])

    def number(key: str, value: float) -> Array:
        return axes.get(key, np.full((1, 1), float(value)))

    def limit(key: str, value: float | None, unit_s: float) -> Array:
        if workload.mode == "offline":
            return np.full((1, 1), NO_LIMIT_S)
        return (
            axes[key] * unit_s
            if key in axes
            else number(key, NO_LIMIT_S if value is None else value * unit_s)
        )

    closed = workload.arrivals == "closed_loop" and workload.mode == "online"
    bursty = workload.arrivals == "gamma"
    return Load(
        weight=weight,
        low_ratio=low,
        high_ratio=high,
        second_ratio=second,
        third_ratio=third,
        new_tokens=np.maximum(inputs - cached, 1.0),
        past_tokens=cached,
        output_tokens=outputs,
        rate_per_s=number("workload.rate_per_s", workload.rate_per_s)
        * number("workload.peak_to_mean_ratio", workload.peak_to_mean_ratio),
        arrival_cv2=1.0 / number("workload.burstiness", workload.burstiness) if bursty else np.ones((1, 1)),
        ttft_limit_s=limit("slo.ttft_s", slo.ttft_s, 1.0),
        tpot_limit_s=limit("slo.tpot_ms", slo.tpot_ms, 1e-3),
        e2e_limit_s=limit("slo.e2e_s", slo.e2e_s, 1.0),
        hop_s=number("routing.overhead_ms", scenario.routing.overhead_ms) * 1e-3,
        percentile_fraction=slo.percentile / 100.0,
        concurrency=number("workload.concurrency", workload.concurrency) if closed else None,
        offline=workload.mode == "offline",
        least_loaded=scenario.routing.policy == "least_loaded",
    )


def _classes(workload: Workload, points: int) -> RequestClasses:
    """A trace is read each time, for its file may change; the rest follows from the scenario alone."""
    return tailed_classes(workload, points) if workload.trace_file else _known_classes(workload, points)


@lru_cache(maxsize=256)
def _known_classes(workload: Workload, points: int) -> RequestClasses:
    return tailed_classes(workload, points)


def _scaled(values: Array, mean: Array | None, weight: Array) -> Array:
    column = values[:, None, None]
    if mean is None:
        return column
    return np.maximum(column * (mean / float((weight * values).sum())), 1.0)


def _with_hits(
    scenario: Scenario, axes: Mapping[str, Array], points: int
) -> tuple[Array, Array, Array, Array]:
    """weight, input, output and cached tokens where the mean prefix hit varies over cells.

    A warm request hits hit / warm_fraction of its prompt; beyond a hit of warm_fraction all of it.
    """
    workload = scenario.workload
    warm = workload.warm_fraction
    probe = workload.model_copy(update={"prefix_hit_fraction": min(0.5, 0.5 * warm)})
    classes: RequestClasses = _classes(probe, points)
    inputs = _scaled(classes.input_tokens, axes.get("workload.input_tokens"), classes.weight)
    outputs = _scaled(classes.output_tokens, axes.get("workload.output_tokens"), classes.weight)
    is_warm = (classes.cached_tokens > 0)[:, None, None]
    hit = np.minimum(axes["workload.prefix_hit_fraction"] / warm, 1.0)
    return classes.weight, inputs, outputs, np.minimum(is_warm * hit * inputs, inputs - 1.0)


def _edges(inputs: Array) -> tuple[Array, Array]:
    """Lower and upper edge of each class over its mean prompt length; 1 and 1 for fixed lengths."""
    distinct = np.unique(inputs)
    if len(distinct) < 2:
        return np.ones(len(inputs)), np.ones(len(inputs))
    inner = np.sqrt(distinct[1:] * distinct[:-1])
    low = np.concatenate(([distinct[0] ** 2 / inner[0]], inner))
    high = np.concatenate((inner, [distinct[-1] ** 2 / inner[-1]]))
    at = np.searchsorted(distinct, inputs)
    return low[at] / distinct[at], high[at] / distinct[at]


def _within(workload: Workload, points: int, inputs: Array) -> tuple[Array, Array]:
    """Moments inside each class, by its mean prompt length."""
    second, third = _known_moments(workload, points)
    distinct = np.unique(inputs)
    if len(distinct) != len(second):  # fixed lengths, a trace, or so short that classes fall together
        return np.ones(len(inputs)), np.ones(len(inputs))
    at = np.searchsorted(distinct, inputs)
    return second[at], third[at]


@lru_cache(maxsize=256)
def _known_moments(workload: Workload, points: int) -> tuple[Array, Array]:
    return moments_within(workload, points)


def single_precision(record: Record) -> Record:
    """The same in 32 bits: maps need three digits and twice the speed."""
    arrays = {
        field.name: value.astype(np.float32)
        for field in fields(record)
        if isinstance(value := getattr(record, field.name), np.ndarray)
    }
    return replace(record, **arrays)
