"""The numbers fitted to serving runs as effects: shared by many runs, the more particular pulled to none.

What a run lacks of its own (its engine's overhead, its format's ratio) it takes from those it shares more
with, so that a model and system no run of which was fitted still gets the numbers of its kind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pdexplorer.evidence.serving_predict import ServingNumbers
from pdexplorer.evidence.serving_steps import Runs
from pdexplorer.evidence.serving_waits import OWN_SWEEP
from pdexplorer.physics.serving import NUMBERS, KernelRatios, ServingRatios

Floats = NDArray[np.float64]

REQUEST, ACCEPTANCE, COMPILE, OVERHEAD, YOUNG = "request", "acceptance", "compile", "overhead", "young"
GROUPS = (*NUMBERS, OVERHEAD, REQUEST, ACCEPTANCE, COMPILE)
_START_REQUEST_S = 0.06
_START_ACCEPTANCE = 0.7
_MOST_ACCEPTANCE = 0.97
_START_COMPILE_S = 30.0
_BEND = 30.0
_BY_CLASS = ("product_launch", "cache", "collective", "compute")
_BY_FAMILY = ("expert_launch", OVERHEAD)
_SPREAD = MappingProxyType(
    {**dict.fromkeys(NUMBERS, 0.5), "product_weights": 0.2, "expert_weights": 0.3, "cache": 0.3}
)
_STARTS = MappingProxyType({"blackwell mxfp4": float(np.log(0.5))})
"""Served with 8-bit activations there (VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 in the same scripts), at twice the
rate of the 16-bit ones that the catalogue takes mxfp4 for."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A logarithm added to the numbers of `group` in the runs of `where`. key: (group, label, value); start
    and spread: where it is pulled to and how hard.
    """

    key: tuple[str, str, str]
    where: NDArray[np.bool_]
    spread: float
    start: float = 0.0

    @property
    def groups(self) -> tuple[str, ...]:
        """What it acts on: a young engine is slow in everything it does."""
        return (*NUMBERS, OVERHEAD) if self.key[0] == YOUNG else (self.key[0],)


def effects(runs: Runs, used: NDArray[np.bool_]) -> tuple[Effect, ...]:
    """Those that any of the used runs tells of."""
    return tuple(effect for effect in _all_effects(runs) if np.any(effect.where & used))


def _all_effects(runs: Runs) -> Iterator[Effect]:
    everywhere = np.ones(len(runs.rows), dtype=bool)
    for name in NUMBERS:
        yield Effect((name, "", ""), everywhere, _SPREAD[name])
    for name in _BY_CLASS:
        yield from _by(runs, name, "class", 0.2)
    for name in _BY_FAMILY:
        yield from _by(runs, name, "family", 0.3)
    yield from _by(runs, "compute", "weights", 0.3)
    yield from _by(runs, "compute", "format", 0.2)
    yield Effect((OVERHEAD, "", ""), runs.labels["overhead"] != "", 0.7)
    yield from _by(runs, OVERHEAD, "overhead", 0.7)
    yield Effect((YOUNG, "", ""), runs.young, 0.5)
    yield Effect((REQUEST, "", ""), everywhere, 0.9)
    for label in ("engine", "class", "sweep"):
        yield from _by(runs, REQUEST, label, 0.5)
    yield from _by(runs, REQUEST, "request", 0.4)
    drafted = np.zeros(len(runs.rows), dtype=bool)
    for part in runs.parts:
        drafted[part.where] = part.drafts > 0
    yield Effect((ACCEPTANCE, "", ""), drafted, 0.3)
    cold = runs.cold_rounds > 0
    yield Effect((COMPILE, "", ""), cold, 1.0)
    yield from (Effect(effect.key, effect.where & cold, 0.7) for effect in _by(runs, COMPILE, "weights", 0.7))


def _by(runs: Runs, group: str, label: str, spread: float) -> Iterator[Effect]:
    values = runs.labels[label]
    for value in sorted(set(values)):
        if value:
            start = _STARTS.get(value, 0.0) if group == "compute" else 0.0
            where = values == value
            # Runs without CUDA graphs have another overhead, which is not fitted.
            where = where & (runs.labels["overhead"] != "") if group == OVERHEAD else where
            yield Effect((group, label, str(value)), where, spread, start)


def levels(runs: Runs, found: tuple[Effect, ...], theta: Floats) -> dict[str, Floats]:
    """The summed logarithms of each group in each run."""
    sums = {group: np.zeros(len(runs.rows)) for group in GROUPS}
    for effect, value in zip(found, theta, strict=True):
        for group in effect.groups:
            sums[group] = sums[group] + value * effect.where
    return sums


def kernel_ratios(runs: Runs, sums: Mapping[str, Floats]) -> KernelRatios:
    """Those of each run as arrays, none past its chip's peak. A ratio meets its peak in a bend, 2% above it
    at most: at a corner that many runs share a fit by slopes comes to a stop.
    """

    def bent(name: str) -> Floats:
        peaks = np.log(np.maximum(getattr(runs.peaks, name), 1e-9))
        ratio: Floats = np.exp(np.logaddexp(_BEND * sums[name], _BEND * peaks) / _BEND)
        return ratio

    return KernelRatios(**{name: bent(name) for name in (*NUMBERS, OVERHEAD)})


def request_ms(sums: Mapping[str, Floats]) -> Floats:
    """What a request costs besides steps."""
    cost: Floats = 1e3 * _START_REQUEST_S * np.exp(sums[REQUEST])
    return cost


def compile_ms(runs: Runs, sums: Mapping[str, Floats]) -> Floats:
    """Mean over a run's requests of what the first wave waits for kernels."""
    cold = runs.cold_rounds > 0
    mean: Floats = 1e3 * cold * _START_COMPILE_S * np.exp(sums[COMPILE]) / np.maximum(runs.cold_rounds, 1.0)
    return mean


def acceptance(sums: Mapping[str, Floats]) -> Floats:
    """Share of drafted tokens that hold."""
    share: Floats = np.minimum(_START_ACCEPTANCE * np.exp(sums[ACCEPTANCE]), _MOST_ACCEPTANCE)
    return share


def numbers_of(runs: Runs, found: tuple[Effect, ...], theta: Floats, ratios: ServingRatios) -> ServingNumbers:
    """The effects multiplied out for every engine, class and format of the runs, fitted or not; ratios: what
    they are recorded with.
    """
    value = dict(zip((effect.key for effect in found), map(float, theta), strict=True))

    def factor(group: str, *keys: tuple[str, str]) -> float:
        logs = [value.get((group, *key), _STARTS.get(key[1], 0.0) * (group == "compute")) for key in keys]
        return float(np.exp(sum(logs)))

    whole = ("", "")
    engines, classes, families, formats = (
        sorted(set(runs.labels[name])) for name in ("engine", "class", "family", "format")
    )
    requests = {}
    for engine in engines:
        for kind in classes:
            usual = (whole, ("engine", engine), ("class", kind))
            key = f"{engine} {kind}"
            requests[key] = factor(REQUEST, *usual, ("request", key))
            requests[f"{key} {OWN_SWEEP}"] = factor(REQUEST, *usual, ("sweep", OWN_SWEEP))
    columns = (runs.labels[name] for name in ("request", "engine", "class"))
    for key, engine, kind in sorted(set(zip(*columns, strict=True))):
        if OWN_SWEEP in key and (REQUEST, "request", key) in value:
            own = (whole, ("engine", engine), ("class", kind), ("sweep", OWN_SWEEP), ("request", key))
            requests[str(key)] = factor(REQUEST, *own)
    return ServingNumbers(
        ratios=replace(
            ratios,
            kernels=KernelRatios(**{name: factor(name, whole) for name in NUMBERS}),
            by_class=MappingProxyType(
                {kind: {name: factor(name, ("class", kind)) for name in _BY_CLASS} for kind in classes}
            ),
            by_family=MappingProxyType(
                {key: {name: factor(name, ("family", key)) for name in _BY_FAMILY} for key in families}
            ),
            compute_by_format=MappingProxyType(
                {key: factor("compute", ("weights", key.split()[1]), ("format", key)) for key in formats}
            ),
            overhead=MappingProxyType(
                {
                    f"{engine} {kind}": factor(OVERHEAD, whole, ("overhead", f"{engine} {kind}"))
                    for engine in engines
                    for kind in classes
                }
            ),
            young=factor(YOUNG, whole),
        ),
        request_s=MappingProxyType({key: _START_REQUEST_S * cost for key, cost in requests.items()}),
        draft_acceptance=min(_START_ACCEPTANCE * factor(ACCEPTANCE, whole), _MOST_ACCEPTANCE),
        compile_s=MappingProxyType(
            {
                name: _START_COMPILE_S * factor(COMPILE, whole, ("weights", name))
                for name in sorted(set(runs.labels["weights"][runs.cold_rounds > 0]))
            }
        ),
    )
