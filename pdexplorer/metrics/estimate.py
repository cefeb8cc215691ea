"""Closed form to Outcome: the percentiles, shares of time and money of one fleet at one load."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.metrics.cost import PoolTime, cost_parts
from pdexplorer.metrics.draws import Latencies, latency_draws, percentiles, within_classes
from pdexplorer.metrics.money import FleetPrice
from pdexplorer.metrics.outcome import Outcome, Percentiles
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.steady.colocated import ColocatedDesigns, ColocatedFlow, colocated_flow
from pdexplorer.steady.colocated_capacity import (
    ColocatedWait,
    colocated_attainment,
    colocated_wait,
    interference,
    outside_s,
)
from pdexplorer.steady.disaggregated import DisaggregatedFlow, outside_decode_s
from pdexplorer.steady.load import Load
from pdexplorer.steady.pool import spread_batch
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.workload.normal import normal_quantile

Array = NDArray[np.float64]


def colocated_outcome(
    designs: ColocatedDesigns, in_flight: Array, fleet: ColocatedFleet, price: FleetPrice
) -> Outcome:
    """Of one design in one cell, with that mean number of requests decoding on each instance."""
    load = designs.load
    count = np.full((1, 1, 1, 1), float(fleet.instances))
    flow = colocated_flow(designs, in_flight)
    wait = colocated_wait(designs, flow, count)
    attained = float(colocated_attainment(designs, flow, wait)[0].item())
    rate = fleet.instances * _one(flow.rate_per_s)
    outside = _one(outside_s(designs, flow, wait))
    spread = _one(spread_batch(load, in_flight, count))
    mean, variance = _interference(designs, flow, wait)
    ceiling = _one(flow.mixed_s) if designs.alone_s is None else np.inf
    latencies = latency_draws(
        load, flow.service_s[:, 0, 0, 0, 0], _one(wait.after_s) + outside, _one(wait.share),
        _one(wait.mean_s), _one(flow.step_s), mean, variance, _one(flow.slope_s) * spread, ceiling,
        np.zeros(len(load.weight)), _one(wait.cv2),
    )  # fmt: skip
    context = float(load.context_tokens.item())
    shares = {
        "instances": min(1.0, 1.0 - _idle(flow)),
        "prefill_queue": _one(flow.utilisation),
        "kv_memory": (
            _one(in_flight) * context + _one(flow.utilisation) * float(load.mean(load.input_tokens).item())
        )
        / _one(designs.kv_tokens),
        "mixed_step_fraction": mixed_fraction(load, flow),
    }
    base = _outcome(
        load, fleet.instances, fleet.gpus, price, (_pool_time(load, flow, designs.alone_s is not None),), rate
    )
    explain = {
        "step_s": _one(flow.step_s),
        "mixed_s": _one(flow.mixed_s) + (_one(flow.step_s) if designs.alone_s is not None else 0.0),
        "mixed_step_fraction": mixed_fraction(load, flow),
        "tpot_mean_s": _one(flow.tpot_s),
        "wait_mean_s": _one(wait.mean_s) + outside,
        "service_mean_s": _one(wait.service_mean_s),
        "in_flight": _one(in_flight),
    }
    return _filled(
        base,
        load,
        explain,
        rate,
        attained,
        latencies,
        _colocated_itl(load, flow, spread, designs.alone_s is not None),
        shares,
    )


def _interference(designs: ColocatedDesigns, flow: ColocatedFlow, wait: ColocatedWait) -> tuple[float, Array]:
    """(mean, variance × a request's steps by class), as the attainment has them."""
    added, per_step, at_once, most = interference(designs, flow, wait)
    mean, steps = _one(added), np.maximum(designs.load.decode_steps[:, :, 0], 1.0)
    variance = (_one(per_step) + _one(at_once) / steps) / steps
    if most is not None:
        ceiling = mean * max(_one(most) - mean, 0.0) + 1e-18
        variance = variance * ceiling / (variance + ceiling)
    return mean, variance * steps


def mixed_fraction(load: Load, flow: ColocatedFlow) -> float:
    """Share of decode steps that carry prefill, or that a prefill-only step holds up."""
    mixed = _one(flow.rate_per_s) * _one(flow.mixed_steps) * _one(flow.active)
    return min(1.0, mixed / max(_decode_steps_per_s(load, flow), 1e-12))


def _decode_steps_per_s(load: Load, flow: ColocatedFlow) -> float:
    steps = max(float(load.mean(load.decode_steps).item()), 1e-3)
    return _one(flow.rate_per_s) * steps / _one(flow.batch)


def _idle(flow: ColocatedFlow) -> float:
    """No request decodes and none prefills: two independent conditions in the closed form."""
    alone = _one(flow.rate_per_s) * _one(flow.mixed_steps) * _one(flow.alone_step_s)
    return (1.0 - _one(flow.active)) * (1.0 - alone)


def _pool_time(load: Load, flow: ColocatedFlow, stopping: bool) -> PoolTime:
    """A mixed step is split by what its prompt tokens and its decodes would each take alone."""
    rate, active, steps = _one(flow.rate_per_s), _one(flow.active), _one(flow.mixed_steps)
    alone, step, mixed = _one(flow.alone_step_s), _one(flow.step_s), _one(flow.mixed_s)
    shared = rate * steps * active
    per_mixed = (1.0, 0.0) if stopping else (alone / (alone + step), step / (alone + step))
    pure = _decode_steps_per_s(load, flow) - (0.0 if stopping else shared)
    return PoolTime(
        prefill=rate * steps * (1.0 - active) * alone + shared * mixed * per_mixed[0],
        decode=pure * step + shared * mixed * per_mixed[1],
        transfer_blocked=0.0,
        idle=_idle(flow),
    )


def _colocated_itl(load: Load, flow: ColocatedFlow, spread: float, stopping: bool) -> Percentiles:
    wobble = _one(flow.slope_s) * spread
    share = mixed_fraction(load, flow)
    step = _one(flow.step_s)
    long = step + _one(flow.mixed_s) if stopping else _one(flow.mixed_s)
    z = normal_quantile((np.arange(64) + 0.5) / 64)
    values = np.concatenate((step + wobble * z, long + wobble * z))
    weight = np.concatenate((np.full(64, (1.0 - share) / 64), np.full(64, share / 64)))
    return percentiles(np.maximum(values, 0.5 * step), weight)


def disaggregated_outcome(
    designs: DisaggregatedDesigns,
    flow: DisaggregatedFlow,
    fleet: DisaggregatedFleet,
    price: FleetPrice,
) -> Outcome:
    """Of one pair of designs in one cell, at the load flow was made for."""
    load = designs.load
    rate = fleet.prefill_instances * _one(flow.prefill.rate_per_s)
    weight = load.weight
    decode, link = flow.decode, flow.link
    late = np.broadcast_to(flow.late_s, (len(weight), 1, 1, 1, 1))[:, 0, 0, 0, 0]
    count = np.full((1, 1, 1, 1), float(fleet.decode_instances))
    outside = _one(outside_decode_s(designs, flow, count))
    latencies = latency_draws(
        load, flow.service_s[:, 0, 0, 0, 0], _one(flow.after_s) + outside, _one(flow.wait_share),
        _one(flow.wait_s), _one(decode.step_s), 0.0, 0.0, _one(decode.slope_s) * _one(decode.spread), np.inf,
        late, _one(flow.wait_cv2),
    )  # fmt: skip
    shares = {
        "prefill": _one(flow.prefill.busy),
        "decode": _one(decode.active),
        "link": _one(link.busy),
        "prefill_capacity": _one(flow.prefill.utilisation),
        "kv_memory": _one(decode.in_flight) * float(load.context_tokens.item()) / _one(designs.kv_tokens),
    }
    pools = (_prefill_time(flow), _decode_time(designs, flow))
    wait = _one(link.wait_s)
    exposed = percentiles(*within_classes(load, link.exposed_s[:, 0, 0, 0, 0] + wait))
    latency = float(designs.wire.latency_s.item())
    wire = percentiles(*within_classes(load, link.wire_s[:, 0, 0, 0, 0] + latency + wait))
    step = _one(decode.step_s)
    wobble = _one(decode.slope_s) * _one(decode.spread)
    z = normal_quantile((np.arange(64) + 0.5) / 64)
    itl = percentiles(np.maximum(step + wobble * z, 0.5 * step), np.full(64, 1 / 64))
    counts = {"prefill": fleet.prefill_instances, "decode": fleet.decode_instances}
    base = _outcome(load, counts, fleet.gpus, price, pools, rate)
    explain = {
        "step_s": step,
        "tpot_mean_s": step,
        "wait_mean_s": _one(flow.prefill.wait_s) + outside,
        "service_mean_s": float((weight * flow.prefill.service_s[:, 0, 0, 0, 0]).sum()),
        "exposed_mean_s": float((weight * link.exposed_s[:, 0, 0, 0, 0]).sum()) + _one(link.wait_s),
        "link_wait_s": _one(link.wait_s),
        "moved_bytes": float((weight * designs.wire.moved_bytes[:, 0, 0, 0, 0]).sum()),
        "in_flight": _one(decode.in_flight),
    }
    filled = _filled(base, load, explain, rate, _one(flow.attained), latencies, itl, shares)
    return replace(filled, kv_transfer_s=wire, kv_exposed_s=exposed)


def _prefill_time(flow: DisaggregatedFlow) -> PoolTime:
    """An instance without a prompt is blocked while its last KV still leaves, else idle."""
    sending = min(_one(flow.link.egress_busy), 1.0)
    idle = 1.0 - _one(flow.prefill.busy)
    return PoolTime(_one(flow.prefill.busy), 0.0, idle * sending, idle * (1.0 - sending))


def _decode_time(designs: DisaggregatedDesigns, flow: DisaggregatedFlow) -> PoolTime:
    decode = flow.decode
    busy = (
        _one(decode.rate_per_s)
        * float(designs.decode_steps.item())
        / _one(decode.batch)
        * _one(decode.step_s)
    )
    receiving = min(_one(flow.link.ingress_busy), 1.0)
    idle = 1.0 - _one(decode.active)
    return PoolTime(0.0, busy, idle * receiving, idle * (1.0 - receiving))


def _outcome(
    load: Load,
    instances: int | dict[str, int],
    gpus: int,
    price: FleetPrice,
    pools: tuple[PoolTime, ...],
    requests_per_s: float,
) -> Outcome:
    cost = price.usd_per_hour
    tokens = float(load.mean(load.input_tokens + load.output_tokens).item())
    output = float(load.mean(load.output_tokens).item())
    per_request = None if cost is None else cost / 3600.0 / requests_per_s
    return Outcome(
        kind="estimated",
        feasible=True,
        bottleneck=None,
        instances=instances,
        gpus=gpus,
        cost_usd_per_hour=cost,
        cost_usd_per_million_tokens=None if per_request is None else per_request / tokens * 1e6,
        cost_usd_per_million_output_tokens=None if per_request is None else per_request / output * 1e6,
        cost_per_request_usd=cost_parts(price, pools, requests_per_s),
        time_share={
            "prefill": sum(pool.prefill for pool in pools),
            "decode": sum(pool.decode for pool in pools),
            "kv_transfer": sum(pool.transfer_blocked for pool in pools),
            "scheduling_idle": sum(pool.idle for pool in pools),
        },
        money_note=price.missing
        or "; ".join(dict.fromkeys(p.text for p in price.prices if p.kind != "published")),
    )


def _filled(
    base: Outcome,
    load: Load,
    explain: dict[str, float],
    rate_per_s: float,
    attained: float,
    latencies: Latencies,
    itl: Percentiles,
    shares: dict[str, float],
) -> Outcome:
    show = not load.offline
    decodes = np.isfinite(latencies.tpot_s)
    return replace(
        base,
        throughput_per_s=rate_per_s,
        goodput_per_s=rate_per_s * (1.0 if load.offline else attained),
        attainment_fraction=1.0 if load.offline else attained,
        ttft_s=percentiles(latencies.ttft_s, latencies.weight) if show else None,
        tpot_s=percentiles(latencies.tpot_s[decodes], latencies.weight[decodes]) if decodes.any() else None,
        itl_s=itl if decodes.any() else None,
        e2e_s=percentiles(latencies.e2e_s, latencies.weight) if show else None,
        utilisation=shares,
        explain=explain,
    )


def _one(values: Array) -> float:
    return float(np.asarray(values).item())
