"""Why: the causes behind a verdict, weighed by how much of time or money each moves.

Effects such as the final price or TTFT are no reasons: they are what the reasons explain.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.reason_words import reason_text
from pdexplorer.verdict import Decision, Reason, transfer_share

Side = Literal["disaggregated", "colocated"]

_LITTLE_PREFILL = 0.2
_FREE_TP = 0.1


def reasons_of(
    scenario: Scenario,
    colocated: Outcome,
    split: Outcome,
    prices_usd_per_hour: Mapping[str, float | None] | None = None,
) -> tuple[Reason, ...]:
    """Heaviest first. A side that cannot speaks first, with its limit. prices: by accelerator id."""
    found: list[Reason] = []
    other: Mapping[str, Side] = {"colocated": "disaggregated", "disaggregated": "colocated"}
    for name, side in (("colocated", colocated), ("disaggregated", split)):
        if side.infeasible is not None:
            parameters = {
                "fleet": name,
                "limit": side.infeasible.limit,
                "limit_text": side.infeasible.text,
            }
            found.append(_reason(f"{name}_cannot", other[name], 1.0, **parameters))
    if colocated.feasible:
        found += _colocated(scenario, colocated)
    if split.feasible:
        found += _split(split, colocated)
    if colocated.feasible and split.feasible:
        found += _both(colocated, split, prices_usd_per_hour or {})
    return tuple(sorted(found, key=lambda reason: -reason.weight))


def for_decision(reasons: tuple[Reason, ...], decision: Decision) -> tuple[Reason, ...]:
    """Those on the decision's side first; a decision for neither side keeps the order of weight."""
    side = {"disaggregate": "disaggregated", "stay_colocated": "colocated"}.get(decision)
    if side is None:
        return reasons
    return tuple(sorted(reasons, key=lambda reason: reason.favours != side))


def _reason(key: str, favours: Side, weight: float, **parameters: Any) -> Reason:
    return Reason(key, reason_text(key, parameters), _share(weight), parameters, favours)


def _colocated(scenario: Scenario, outcome: Outcome) -> list[Reason]:
    e = outcome.explain
    limitless = scenario.workload.mode == "offline" or (
        scenario.slo.tpot_ms is None and scenario.slo.e2e_s is None
    )
    found = []
    cost = 1.0 - e["step_s"] / max(e["tpot_mean_s"], 1e-12)
    if limitless:
        found.append(_reason("no_tpot_limit", "colocated", 0.5))
    else:
        found.append(
            _reason(
                "interference",
                "disaggregated",
                cost,
                mixed_step_fraction=e["mixed_step_fraction"],
                step_s=e["step_s"],
                mixed_s=e["mixed_s"],
                tpot_mean_s=e["tpot_mean_s"],
                tpot_limit_s=None if scenario.slo.tpot_ms is None else scenario.slo.tpot_ms * 1e-3,
            )
        )
    if outcome.ttft_s is not None and e["wait_mean_s"] > 0.0:
        share = e["wait_mean_s"] / (e["wait_mean_s"] + e["service_mean_s"])
        found.append(
            _reason(
                "colocated_queue",
                "disaggregated",
                0.5 * share,
                wait_s=e["wait_mean_s"],
                service_s=e["service_mean_s"],
                ttft_p95_s=outcome.ttft_s.p95,
                ttft_limit_s=scenario.slo.ttft_s,
            )
        )
    time = outcome.time_share or {}
    busy = time.get("prefill", 0.0) + time.get("decode", 0.0)
    if busy > 0.0:
        prefill = time["prefill"] / busy
        if prefill < _LITTLE_PREFILL:
            weight = 0.5 * (1.0 - prefill / _LITTLE_PREFILL)
            found.append(_reason("little_prefill", "colocated", weight, prefill_fraction=prefill))
    return found


def _split(outcome: Outcome, colocated: Outcome) -> list[Reason]:
    e, use = outcome.explain, outcome.utilisation or {}
    found = []
    share = transfer_share(outcome)
    if outcome.kv_exposed_s is not None and outcome.kv_transfer_s is not None:
        found.append(
            _reason(
                "kv_transfer",
                "colocated",
                max(share or 0.0, use["link"] - 0.3),
                moved_bytes=e["moved_bytes"],
                transfer_p95_s=outcome.kv_transfer_s.p95,
                exposed_p95_s=outcome.kv_exposed_s.p95,
                ttft_fraction=share,
                link_fraction=use["link"],
            )
        )
    idle, other = _idle_share(outcome, 2.0), _idle_share(colocated, 1.0)
    found.append(
        _reason(
            "idle_pools",
            "colocated",
            idle - other,
            prefill_fraction=use["prefill"],
            decode_fraction=use["decode"],
            idle_fraction=idle,
            colocated_idle_fraction=other,
        )
    )
    return found


def _idle_share(outcome: Outcome, pools: float) -> float:
    """Of what a request costs, or of instance time where there are no prices; 0 where a side cannot."""
    parts = outcome.cost_per_request_usd
    if parts:
        return float(parts["scheduling_idle"] / parts["total"])
    return float((outcome.time_share or {}).get("scheduling_idle", 0.0) / pools)


def _both(colocated: Outcome, split: Outcome, prices: Mapping[str, float | None]) -> list[Reason]:
    found = []
    one, other = colocated.explain, split.explain
    ratio = other["in_flight"] / max(one["in_flight"], 1e-9)
    found.append(
        _reason(
            "decode_batch",
            "disaggregated" if ratio > 1.0 else "colocated",
            0.3 * (1.0 - min(ratio, 1.0 / max(ratio, 1e-9))),
            colocated_batch=one["in_flight"],
            split_batch=other["in_flight"],
            colocated_step_s=one["step_s"],
            split_step_s=other["step_s"],
        )
    )
    c, s = colocated.design, split.design
    if {s.get("prefill"), s.get("decode")} != {c.get("accelerator")}:
        found += _hardware(colocated, split, prices)
    gpus = c.get("gpus_per_instance"), s.get("prefill_gpus_per_instance"), s.get("decode_gpus_per_instance")
    if None not in gpus and gpus[1] != gpus[2]:
        found.append(
            _reason(
                "parallelism",
                "disaggregated",
                _FREE_TP,
                colocated_gpus=gpus[0],
                prefill_gpus=gpus[1],
                decode_gpus=gpus[2],
            )
        )
    return found


def _hardware(colocated: Outcome, split: Outcome, prices: Mapping[str, float | None]) -> list[Reason]:
    """What a GPU costs on average, where the fleets use different ones and all have a price."""
    own = prices.get(str(colocated.design.get("accelerator")))
    fleet = split.cost_usd_per_hour
    if own is None or fleet is None or not split.gpus:
        return []
    average = fleet / split.gpus
    gap = (own - average) / max(own, average)
    return [
        _reason(
            "hardware_price",
            "disaggregated" if gap > 0.0 else "colocated",
            0.5 * abs(gap),
            colocated_accelerator=colocated.design["accelerator"],
            colocated_usd_per_hour=own,
            split_usd_per_hour=average,
        )
    ]


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 4)
