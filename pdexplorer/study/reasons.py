"""Why: the physics behind the verdict, each line with its numbers, weighed by how much of time or money it
moves.
"""

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study import words
from pdexplorer.verdict import Reason, transfer_share


def reasons_of(scenario: Scenario, colocated: Outcome, split: Outcome) -> tuple[Reason, ...]:
    """Heaviest first. A side that cannot speaks first, with its limit."""
    found: list[Reason] = []
    for name, side in (("colocated", colocated), ("disaggregated", split)):
        if side.infeasible is not None:
            found.append(
                Reason(f"{name}_{side.infeasible.limit}", words.cannot(name, side.infeasible.text), 1.0)
            )
    if colocated.feasible:
        found += _colocated(scenario, colocated)
    if split.feasible:
        found += _split(split)
    if colocated.feasible and split.feasible:
        found += _both(colocated, split)
    return tuple(sorted(found, key=lambda reason: -reason.weight))


def _colocated(scenario: Scenario, outcome: Outcome) -> list[Reason]:
    e = outcome.explain
    found = []
    cost = 1.0 - e["step_s"] / max(e["tpot_mean_s"], 1e-12)
    text = words.interference(
        e["mixed_step_fraction"], e["step_s"], e["mixed_s"], e["tpot_mean_s"], scenario.slo.tpot_ms
    )
    found.append(Reason("interference", text, _share(cost)))
    if outcome.ttft_s is not None and e["wait_mean_s"] > 0.0:
        share = e["wait_mean_s"] / (e["wait_mean_s"] + e["service_mean_s"])
        text = words.queue(
            "colocated", e["wait_mean_s"], e["service_mean_s"], outcome.ttft_s.p95, scenario.slo.ttft_s
        )
        found.append(Reason("colocated_queue", text, _share(0.5 * share)))
    return found


def _split(outcome: Outcome) -> list[Reason]:
    e, use = outcome.explain, outcome.utilisation or {}
    found = []
    share = transfer_share(outcome)
    if outcome.kv_exposed_s is not None and outcome.kv_transfer_s is not None:
        text = words.transfer(
            e["moved_bytes"], outcome.kv_transfer_s.p95, outcome.kv_exposed_s.p95, share, use["link"]
        )
        found.append(Reason("kv_transfer", text, _share(max(share or 0.0, use["link"] - 0.3))))
    parts = outcome.cost_per_request_usd
    idle = (
        parts["scheduling_idle"] / parts["total"]
        if parts
        else (outcome.time_share or {})["scheduling_idle"] / 2.0
    )
    found.append(Reason("idle_pools", words.idle(use["prefill"], use["decode"], idle), _share(idle)))
    return found


def _both(colocated: Outcome, split: Outcome) -> list[Reason]:
    found = []
    ratio = split.explain["in_flight"] / max(colocated.explain["in_flight"], 1e-9)
    text = words.batches(
        colocated.explain["in_flight"],
        split.explain["in_flight"],
        colocated.explain["step_s"],
        split.explain["step_s"],
    )
    found.append(Reason("decode_batch", text, _share(0.3 * (1.0 - min(ratio, 1.0 / max(ratio, 1e-9))))))
    if colocated.cost_usd_per_hour and split.cost_usd_per_hour:
        gap = abs(colocated.cost_usd_per_hour - split.cost_usd_per_hour)
        weight = 0.5 * gap / max(colocated.cost_usd_per_hour, split.cost_usd_per_hour)
        text = words.price(colocated.cost_usd_per_hour, colocated.gpus, split.cost_usd_per_hour, split.gpus)
        found.append(Reason("price", text, _share(weight)))
    elif colocated.gpus and split.gpus:
        text = words.gpus(colocated.gpus, split.gpus)
        found.append(Reason("gpus", text, _share(0.5 * abs(1.0 - colocated.gpus / split.gpus))))
    if colocated.ttft_s is not None and split.ttft_s is not None:
        gap = abs(split.ttft_s.p95 - colocated.ttft_s.p95) / max(split.ttft_s.p95, colocated.ttft_s.p95)
        found.append(Reason("ttft", words.ttfts(colocated.ttft_s.p95, split.ttft_s.p95), _share(0.2 * gap)))
    return found


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 4)
