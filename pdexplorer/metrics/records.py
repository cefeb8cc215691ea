"""Request records to Outcome: the same figures as the closed form, from what happened to each request."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.cost import PoolTime, cost_parts
from pdexplorer.metrics.money import fleet_price
from pdexplorer.metrics.outcome import Outcome, Percentiles, infeasible_outcome
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.workload_block import Slo
from pdexplorer.simulator.records import COMPLETED, SimulationResult
from pdexplorer.simulator.usage import PoolUsage

Array = NDArray[np.float64]

_PERCENT = (50.0, 95.0, 99.0)


def outcome_from_records(
    result: SimulationResult,
    fleet: ColocatedFleet | DisaggregatedFleet,
    scenario: Scenario,
    catalog: Catalog | None = None,
) -> Outcome:
    """Latencies over the counted requests (after the warm-up); rates, utilisation and money over the whole
    replay.

    A request that did not complete misses the SLO. Infeasible where none completed.
    """
    del catalog  # instances carry their accelerators; the argument keeps the signature of the other rooms
    records = result.records
    completed = (records["status"] == COMPLETED) & result.counted
    done = int((records["status"] == COMPLETED).sum())
    if done == 0 or not completed.any() or result.simulated_s <= 0.0:
        text = f"none of {result.requests} requests completed in {result.simulated_s:.3g} simulated seconds"
        return infeasible_outcome(Infeasible("capacity", text), "simulated")
    latencies = _latencies(records, completed)
    met = (
        meets(scenario.slo, **latencies)
        if scenario.workload.mode == "online"
        else np.ones(completed.sum(), bool)
    )
    attained = float(met.sum()) / max(int(result.counted.sum()), 1)
    throughput = done / result.simulated_s
    price = fleet_price(fleet, scenario.money)
    pools = tuple(pool_time(usage, result.simulated_s) for usage in result.pools.values())
    finished = records["status"] == COMPLETED
    tokens = float((records["input_tokens"] + records["output_tokens"])[finished].mean())
    output = float(records["output_tokens"][finished].mean())
    cost = price.usd_per_hour
    each = None if cost is None else cost / 3600.0 / throughput
    feasible = attained >= scenario.slo.percentile / 100.0
    return Outcome(
        kind="simulated",
        feasible=feasible,
        bottleneck=None if feasible else _missed(scenario.slo, latencies),
        instances=_instances(fleet),
        gpus=fleet.gpus,
        cost_usd_per_hour=cost,
        throughput_per_s=throughput,
        goodput_per_s=throughput * attained,
        attainment_fraction=attained,
        cost_usd_per_million_tokens=None if each is None else each / tokens * 1e6,
        cost_usd_per_million_output_tokens=None if each is None else each / output * 1e6,
        ttft_s=_percentiles(latencies["ttft_s"]),
        tpot_s=_percentiles(latencies["tpot_s"]),
        itl_s=itl_percentiles(result.itl_bin_s, result.itl_gaps),
        e2e_s=_percentiles(latencies["e2e_s"]),
        utilisation=_utilisation(result),
        kv_transfer_s=_percentiles(result.kv_transfer_s) if len(result.kv_transfer_s) else None,
        kv_exposed_s=_percentiles(result.kv_exposed_s) if len(result.kv_exposed_s) else None,
        cost_per_request_usd=cost_parts(price, pools, throughput),
        time_share={
            "prefill": sum(pool.prefill for pool in pools),
            "decode": sum(pool.decode for pool in pools),
            "kv_transfer": sum(pool.transfer_blocked for pool in pools),
            "scheduling_idle": sum(pool.idle for pool in pools),
        },
        money_note=price.missing or "; ".join(p.text for p in price.prices if p.kind != "published"),
    )


def meets(slo: Slo, ttft_s: Array, tpot_s: Array, e2e_s: Array) -> NDArray[np.bool_]:
    """Which requests hold every limit; one of a single token (TPOT NaN) has no TPOT to miss."""
    held = np.ones(len(ttft_s), dtype=bool)
    if slo.ttft_s is not None:
        held &= ttft_s <= slo.ttft_s
    if slo.tpot_ms is not None:
        held &= np.isnan(tpot_s) | (tpot_s <= slo.tpot_ms * 1e-3)
    if slo.e2e_s is not None:
        held &= e2e_s <= slo.e2e_s
    return held


def _latencies(records: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[str, Array]:
    """As vLLM's serving benchmark: TPOT is (last − first token) ÷ (output tokens − 1); NaN for one token."""
    arrival, first, last = (records[name][rows] for name in ("arrival_s", "first_token_s", "finish_s"))
    steps = records["output_tokens"][rows] - 1
    tpot = np.where(steps > 0, (last - first) / np.maximum(steps, 1), np.nan)
    return {"ttft_s": first - arrival, "tpot_s": tpot, "e2e_s": last - arrival}


def pool_time(usage: PoolUsage, simulated_s: float) -> PoolTime:
    """Shares of a pool's instance time, each summed from its own records; they meet 1 only if nothing was
    lost.
    """
    total = usage.instances * simulated_s
    return PoolTime(
        float(usage.prefill_busy_s.sum()) / total,
        float(usage.decode_busy_s.sum()) / total,
        float(usage.transfer_blocked_s.sum()) / total,
        float((usage.idle_end_s - usage.idle_start_s).sum()) / total,
    )


def itl_percentiles(bin_s: Array, gaps: NDArray[np.int64]) -> Percentiles | None:
    """From the histogram of gaps between tokens, to half a bin. None without a gap."""
    total = int(gaps.sum())
    if total == 0:
        return None
    below = np.cumsum(gaps)
    half = 0.5 * float(bin_s[1] - bin_s[0]) if len(bin_s) > 1 else 0.0
    at = [int(np.searchsorted(below, percent / 100.0 * total)) for percent in _PERCENT]
    p50, p95, p99 = (float(bin_s[min(index, len(bin_s) - 1)]) + half for index in at)
    return Percentiles(p50, p95, p99)


def _utilisation(result: SimulationResult) -> dict[str, float]:
    shares = {}
    for name, usage in result.pools.items():
        busy = float((usage.prefill_busy_s + usage.decode_busy_s).sum())
        shares["instances" if name == "colocated" else name] = busy / (usage.instances * result.simulated_s)
    ports = [seconds for seconds in result.link.values() if len(seconds)]
    if ports and "colocated" not in result.pools:
        shares["link"] = max(float(np.mean(seconds)) for seconds in ports) / result.simulated_s
    return shares


def _instances(fleet: ColocatedFleet | DisaggregatedFleet) -> int | dict[str, int]:
    if isinstance(fleet, ColocatedFleet):
        return fleet.instances
    return {"prefill": fleet.prefill_instances, "decode": fleet.decode_instances}


def _missed(slo: Slo, latencies: dict[str, Array]) -> str:
    """The limit most requests miss; requests that never completed count as none."""
    limits = {
        "ttft": (latencies["ttft_s"], slo.ttft_s),
        "tpot": (latencies["tpot_s"], None if slo.tpot_ms is None else slo.tpot_ms * 1e-3),
        "e2e": (latencies["e2e_s"], slo.e2e_s),
    }
    late = {
        key: float(np.mean(values > limit)) for key, (values, limit) in limits.items() if limit is not None
    }
    return max(late, key=lambda key: late[key]) if late and max(late.values()) > 0.0 else "capacity"


def _percentiles(values: Array) -> Percentiles | None:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    p50, p95, p99 = (float(value) for value in np.percentile(finite, _PERCENT))
    return Percentiles(p50, p95, p99)
