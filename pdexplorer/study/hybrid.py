"""Hybrid routing: short uncached prompts prefill on the decode side; the threshold swept in replays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.metrics.money import fleet_price
from pdexplorer.physics.fleet import DisaggregatedFleet
from pdexplorer.physics.memory import kv_moved_bytes
from pdexplorer.physics.step import step_time_s
from pdexplorer.physics.transfer import exposed_transfer_s
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.options import SimulationOptions, options_of
from pdexplorer.simulator.split import OwnThreshold
from pdexplorer.study.at_rates import open_scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.replayed import Fleet, capacity_per_s, replayed, with_pools
from pdexplorer.workload.generate import generate_requests

_SHARES = (0.05, 0.15, 0.3, 0.6)
_RULE_TOKENS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True, slots=True)
class HybridRow:
    """Prompts with fewer uncached tokens than threshold_tokens stay on the decode side. capacity: largest
    rate that holds every limit in a replay; score: over USD an hour, or GPUs without prices.
    """

    threshold_tokens: int
    prefill: int
    decode: int
    remote_fraction: float
    attainment_fraction: float
    capacity_per_s: float
    score: float
    gain_over_split: float
    gain_over_colocated: float


@dataclass(frozen=True, slots=True)
class HybridRuleRow:
    """One prompt alone: remote_s = prefill there, handshake and exposed transfer; local_s = prefill beside
    the decodes; held_up_s = what that adds to each request decoding here.
    """

    uncached_tokens: int
    remote_s: float
    local_s: float
    held_up_s: float


@dataclass(frozen=True)
class Hybrid:
    """rows: the sweep; threshold 0 is the pure split. best: the row with most capacity per cost. gain: of
    the best over the better of the two pure designs. pays: whether that is at least 3%, the replays' error.
    """

    rows: tuple[HybridRow, ...]
    rule: tuple[HybridRuleRow, ...]
    best: HybridRow
    gain: float
    pays: bool
    cost_unit: str
    text: str


def hybrid(
    evaluation: Evaluation,
    thresholds_tokens: Sequence[int] | None = None,
    requests: int = 400,
    seed: int = 0,
    chunk_tokens: int = 1024,
    report: Callable[[float], None] | None = None,
) -> Hybrid | None:
    """None where a fleet cannot run or the job has no limits. Fleets: the split as sized, and with one
    prefill instance fewer. thresholds: quantiles of the uncached prompt unless given.
    report: told the share done before each replay.
    """
    one, fleet = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    if one is None or fleet is None or evaluation.scenario.workload.mode == "offline":
        return None
    scenario = open_scenario(evaluation.scenario)
    traffic = generate_requests(scenario.workload, requests, seed)
    uncached = traffic.input_tokens - traffic.cached_tokens
    if thresholds_tokens is None:
        thresholds_tokens = [round(float(q)) for q in np.quantile(uncached, _SHARES)]
    priced = evaluation.colocated.cost_usd_per_hour is not None
    priced = priced and evaluation.disaggregated.cost_usd_per_hour is not None
    colocated = capacity_per_s(scenario, one, requests, None, seed) / _cost(scenario, one, priced)
    pools = [(fleet.prefill_instances, fleet.decode_instances)]
    if fleet.prefill_instances > 1:
        pools.append((fleet.prefill_instances - 1, fleet.decode_instances))
    swept = dict.fromkeys((0, *thresholds_tokens))
    found: list[tuple[int, DisaggregatedFleet, float, float, float]] = []
    for p, d in pools:
        tried = with_pools(fleet, p, d)
        for threshold in swept:
            if report is not None:
                report((len(found) + 1) / (len(pools) * len(swept) + 1))
            options = _options(scenario, threshold, chunk_tokens)
            result, outcome = replayed(scenario, tried, traffic, options)
            carried = capacity_per_s(scenario, tried, requests, options, seed)
            found.append(
                (threshold, tried, result.remote_fraction, outcome.attainment_fraction or 0.0, carried)
            )
    costs = [_cost(scenario, tried, priced) for _, tried, *_ in found]
    split = max(each[4] / cost for each, cost in zip(found, costs, strict=True) if each[0] == 0)
    rows = tuple(
        HybridRow(
            threshold, tried.prefill_instances, tried.decode_instances, remote, attained, carried,
            carried / cost, _over(carried / cost, split), _over(carried / cost, colocated),
        )
        for (threshold, tried, remote, attained, carried), cost in zip(found, costs, strict=True)
    )  # fmt: skip
    best = max(rows, key=lambda row: row.score)
    gain = min(best.gain_over_split, best.gain_over_colocated)
    pays = best.threshold_tokens > 0 and gain >= 1.03
    return Hybrid(
        rows,
        rule_rows(fleet, evaluation),
        best,
        gain,
        pays,
        "USD/h" if priced else "GPUs",
        _text(best, gain, pays),
    )


def with_hybrid(evaluation: Evaluation, found: Hybrid | None) -> Evaluation:
    """The evaluation with what the replays say of hybrid routing; it decides where it beats both designs and
    splitting was at least worth a benchmark.
    """
    if found is None:
        return evaluation
    verdict = replace(evaluation.verdict, hybrid=found.text)
    if found.pays and verdict.decision in ("disaggregate", "benchmark_first"):
        verdict = replace(verdict, decision="hybrid", sentence=f"{verdict.sentence} {found.text}")
    return replace(evaluation, verdict=verdict)


def rule_rows(
    fleet: DisaggregatedFleet, evaluation: Evaluation, tokens: Sequence[int] = _RULE_TOKENS
) -> tuple[HybridRuleRow, ...]:
    """The per-request rule in numbers: transfer against what staying costs the others."""
    batch = max(evaluation.disaggregated.explain.get("in_flight", 1.0), 1.0)
    context = evaluation.scenario.workload.input_tokens
    a = fleet.prefill.architecture
    alone = float(step_time_s(fleet.decode, decode_batch=batch, decode_context_tokens=context))
    rows = []
    for count in tokens:
        size = float(
            np.asarray(kv_moved_bytes(a, fleet.decode.kv_format, float(count), fleet.decode.parallelism.tp))
        )
        prefill = float(step_time_s(fleet.prefill, prefill_tokens=count))
        exposed = float(exposed_transfer_s(fleet.path, size, prefill, a.layers))
        mixed = float(
            step_time_s(fleet.decode, prefill_tokens=count, decode_batch=batch, decode_context_tokens=context)
        )
        rows.append(HybridRuleRow(count, prefill + exposed, mixed, mixed - alone))
    return tuple(rows)


def _options(scenario: Scenario, threshold: int, chunk_tokens: int) -> SimulationOptions:
    rule = OwnThreshold(threshold) if threshold > 0 else None
    return replace(options_of(scenario), split_rule=rule, local_chunk_tokens=chunk_tokens)


def _cost(scenario: Scenario, fleet: Fleet, priced: bool) -> float:
    price = fleet_price(fleet, scenario.money).usd_per_hour if priced else None
    return float(fleet.gpus) if price is None else price


def _over(value: float, other: float) -> float:
    return value / other if other > 0.0 else float("inf")


def _text(best: HybridRow, gain: float, pays: bool) -> str:
    if not pays:
        return "Keeping short prompts on the decode side gains nothing over the better pure design."
    return (
        f"Prefill prompts under {best.threshold_tokens:,} uncached tokens on the decode side: {gain:.2f}× "
        f"the better pure design, {best.remote_fraction:.0%} of requests go remote."
    )
