"""Where the time goes: TTFT and TPOT of both fleets in parts that add up, at P50 and P95."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.metrics.outcome import Outcome
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.step import step_parts_s
from pdexplorer.steady.disaggregated import DisaggregatedFlow
from pdexplorer.steady.load import Load
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.study.at_rates import colocated_state, disaggregated_state, open_scenario
from pdexplorer.study.compare import Evaluation

Array = NDArray[np.float64]

TTFT_PARTS = ("router", "queue", "prefill", "handshake", "exposed_transfer", "first_decode")
TPOT_PARTS = ("weights", "kv", "interference", "overhead")
_NODES = 128
_BAND = 0.02


@dataclass(frozen=True)
class TimeRow:
    """One fleet's TTFT or TPOT at one percentile. parts_s add up to total_s, in the order of TTFT_PARTS or
    TPOT_PARTS.
    """

    fleet: str
    metric: str
    percentile: int
    total_s: float
    parts_s: Mapping[str, float]


def time_split(evaluation: Evaluation, catalog: Catalog | None = None) -> tuple[TimeRow, ...]:
    """Rows of every fleet that runs; a batch job has no TTFT, so only its TPOT.

    TTFT's parts are those of requests near the percentile. TPOT's interference is what prefills of others
    add, and at P95 also what a fuller batch does.
    """
    scenario = open_scenario(evaluation.scenario)
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    rows: list[TimeRow] = []
    one, other = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    online = scenario.workload.mode == "online"
    if one is not None:
        rate = np.array([_rate(evaluation, evaluation.colocated)])
        state = colocated_state(scenario, catalog, one, rate)
        if online:
            router = float(state.load.hop_s.item()) + state.designs.table.request_overhead_s
            service = state.flow.service_s[:, 0, 0, 0, 0]
            after = _one(state.wait.after_s)
            fixed = {"router": router, "queue": after - router}
            wait = {"queue": _one(state.wait.mean_s)}
            rows += _ttft(
                "colocated", state.load, service, 0.0 * service, fixed, wait, _one(state.wait.share)
            )
        context = float(state.load.context_tokens.item())
        batch = _one(state.flow.batch)
        rows += _tpot("colocated", evaluation.colocated, one.instance, batch, context)
    if other is not None:
        rate = np.array([_rate(evaluation, evaluation.disaggregated)])
        split = disaggregated_state(scenario, catalog, other, rate)
        flow, load = split.flow, split.load
        if online:
            rows += _split_ttft(load, flow, other.first_token_from == "decode", split.designs)
        context = float(load.context_tokens.item())
        batch = _one(flow.decode.batch)
        rows += _tpot("disaggregated", evaluation.disaggregated, other.decode, batch, context)
    return tuple(rows)


def _split_ttft(
    load: Load, flow: DisaggregatedFlow, from_decode: bool, designs: DisaggregatedDesigns
) -> list[TimeRow]:
    classes = len(load.weight)
    prefill = np.broadcast_to(flow.prefill.service_s, (classes, 1, 1, 1, 1))[:, 0, 0, 0, 0]
    hop = float(load.hop_s.item()) + designs.prefill.request_overhead_s
    if not from_decode:
        fixed, wait = {"router": hop}, {"queue": _one(flow.prefill.wait_s)}
        return _ttft("disaggregated", load, prefill, 0.0 * prefill, fixed, wait, _one(flow.wait_share))
    handshake = float(designs.wire.latency_s.item())
    exposed = np.broadcast_to(flow.link.exposed_s, (classes, 1, 1, 1, 1))[:, 0, 0, 0, 0] - handshake
    fixed = {
        "router": 2.0 * hop,
        "handshake": handshake,
        "first_decode": _one(flow.after_s) - 2.0 * hop,
    }
    wait = {"queue": _one(flow.prefill.wait_s), "exposed_transfer": _one(flow.link.wait_s)}
    return _ttft("disaggregated", load, prefill, exposed, fixed, wait, _one(flow.wait_share))


def _ttft(
    fleet: str,
    load: Load,
    prefill_s: Array,
    exposed_s: Array,
    fixed_s: Mapping[str, float],
    wait_s: Mapping[str, float],
    wait_share: float,
) -> list[TimeRow]:
    """Draws as the outcome's percentiles are drawn; the parts of those close to each percentile, averaged."""
    index = np.arange(_NODES)
    u_wait = (index + 0.5) / _NODES
    u_size = ((index * 0.7548776662466927) + 0.5) % 1.0
    low, high = load.low_ratio[:, None], load.high_ratio[:, None]
    size = low + (high - low) * u_size
    mean = sum(wait_s.values())
    rest = np.clip((1.0 - u_wait) / max(wait_share, 1e-12), 1e-9, 1.0)
    waited = np.broadcast_to(-mean / max(wait_share, 1e-12) * np.log(rest), size.shape)
    parts = {"prefill": prefill_s[:, None] * size, "exposed_transfer": exposed_s[:, None] * size}
    for key, value in wait_s.items():
        parts[key] = parts.get(key, 0.0) + waited * (value / mean if mean > 0.0 else 0.0)
    for key, value in fixed_s.items():
        parts[key] = parts.get(key, 0.0) + np.full(size.shape, value)
    total = np.asarray(sum(parts.values())).ravel()
    weight = np.broadcast_to(load.weight[:, None] / _NODES, size.shape).ravel()
    order = np.argsort(total)
    below = (np.cumsum(weight[order]) - 0.5 * weight[order]) / weight.sum()
    rows = []
    for percentile in (50, 95):
        near = order[np.abs(below - percentile / 100.0) <= _BAND]
        share = weight[near] / weight[near].sum()
        found = {
            key: float((np.broadcast_to(parts[key], size.shape).ravel()[near] * share).sum())
            if key in parts
            else 0.0
            for key in TTFT_PARTS
        }
        rows.append(TimeRow(fleet, "ttft", percentile, sum(found.values()), found))
    return rows


def _tpot(
    fleet: str, outcome: Outcome, instance: Instance, batch: float, context_tokens: float
) -> list[TimeRow]:
    if outcome.tpot_s is None:
        return []
    parts = {
        key: float(np.asarray(value).item())
        for key, value in step_parts_s(
            instance, decode_batch=batch, decode_context_tokens=context_tokens
        ).items()
    }
    fixed = {
        "weights": parts["dense"] + parts["experts"] + parts["head"],
        "kv": parts["attention_decode"],
        "overhead": parts["overhead"] + parts["collectives"],
    }
    rows = []
    for percentile, total in ((50, outcome.tpot_s.p50), (95, outcome.tpot_s.p95)):
        # The rest is interference; a lighter moment than the mean batch takes its share off every part.
        rest = total - sum(fixed.values())
        scale = 1.0 if rest >= 0.0 else total / sum(fixed.values())
        found = {key: value * scale for key, value in fixed.items()} | {"interference": max(rest, 0.0)}
        rows.append(TimeRow(fleet, "tpot", percentile, total, {key: found[key] for key in TPOT_PARTS}))
    return rows


def _rate(evaluation: Evaluation, outcome: Outcome) -> float:
    workload = evaluation.scenario.workload
    peak = (
        1.0
        if workload.arrivals == "closed_loop" or workload.mode == "offline"
        else workload.peak_to_mean_ratio
    )
    return float(outcome.throughput_per_s or 0.0) * peak


def _one(values: Array) -> float:
    return float(np.asarray(values).item())
