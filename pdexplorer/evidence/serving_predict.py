"""Mean TTFT and TPOT of measured serving runs: the fleet of each row replayed in a closed loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.serving_points import Pool, ServingPoint
from pdexplorer.evidence.serving_setup import (
    ROUNDS,
    SETUPS,
    TOKENS_PER_STEP,
    admission_steps,
    predicts_several_tokens,
)
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.instance import Instance, Parallelism, build_instance
from pdexplorer.physics.memory import kv_capacity_tokens
from pdexplorer.physics.serving import (
    ServingRatios,
    in_serving,
    load_serving_ratios,
    load_serving_waits,
    model_class,
)
from pdexplorer.physics.transfer import TransferPath
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.workload.requests import Requests

_SEED = 20260427
_FEW_ROUNDS = 3
_MANY = 48
_LARGEST_REPLAY = 1024
_TRANSFER_S = 0.005
_LINK_BYTE_PER_S = 50e9


@dataclass(frozen=True, slots=True)
class ServingNumbers:
    """Everything fitted to serving runs. ratios by class of model; request_s by engine: what a request costs
    before its prompt is scheduled; admission_fraction: share of the scheduler's polling interval it waits.
    """

    ratios: Mapping[str, ServingRatios]
    request_s: Mapping[str, float]
    admission_fraction: float


@dataclass(frozen=True, slots=True)
class Served:
    """Predicted means of one run, None and a reason where it cannot be predicted."""

    ttft_ms: float | None
    tpot_ms: float | None
    reason: str


def shipped_numbers(catalog: Catalog) -> ServingNumbers:
    """The numbers of the catalogue."""
    waits = load_serving_waits()
    return ServingNumbers(load_serving_ratios(), waits["request_s"], waits["admission_fraction"])


def predict_serving(
    points: Sequence[ServingPoint], catalog: Catalog | None = None, numbers: ServingNumbers | None = None
) -> list[Served]:
    """Predictions in the order of the points."""
    catalogue = catalog or load_catalog()
    used = numbers or shipped_numbers(catalogue)
    replays = replay_serving(points, catalogue, used.ratios)
    return [with_waits(point, raw, catalogue, used) for point, raw in zip(points, replays, strict=True)]


def with_waits(point: ServingPoint, raw: Served, catalog: Catalog, numbers: ServingNumbers) -> Served:
    """A replay plus what a request waits outside the engine's steps, and fewer steps where each yields
    more.
    """
    if raw.ttft_ms is None or raw.tpot_ms is None:
        return raw
    wait = numbers.admission_fraction * admission_steps(point, catalog) * raw.tpot_ms
    ttft = raw.ttft_ms + 1e3 * numbers.request_s[point.engine] + wait
    several = predicts_several_tokens(point)
    return Served(ttft, raw.tpot_ms / TOKENS_PER_STEP if several else raw.tpot_ms, "")


def replay_serving(
    points: Sequence[ServingPoint], catalog: Catalog, ratios: Mapping[str, ServingRatios]
) -> list[Served]:
    """The engines' own TTFT and TPOT; equal configurations are replayed once."""
    known: dict[tuple[object, ...], Served] = {}
    results = []
    for point in points:
        key = _configuration(point)
        if key not in known:
            known[key] = _replay(point, catalog, ratios[model_class(catalog.models[point.model])])
        results.append(known[key])
    return results


def pool_instance(
    point: ServingPoint, pool: Pool, catalog: Catalog, ratios: ServingRatios
) -> Instance | Infeasible:
    """One instance of a pool, its memory checked."""
    instance = build_instance(
        catalog.accelerators[point.accelerator],
        catalog.models[point.model],
        Parallelism(pool.tp, pool.pp, pool.ep, pool.attention_dp),
        point.weight_format,
        point.kv_format,
        catalog.engines[point.engine],
        memory_fraction=SETUPS[point.engine].memory_fraction,
    )
    if isinstance(instance, Infeasible):
        return instance
    capacity = kv_capacity_tokens(instance)
    return capacity if isinstance(capacity, Infeasible) else in_serving(instance, ratios)


def _replay(point: ServingPoint, catalog: Catalog, ratios: ServingRatios) -> Served:
    if point.problem:
        return Served(None, None, point.problem)
    if point.colocated is not None:
        return _colocated(point, point.colocated, catalog, ratios)
    assert point.prefill is not None
    assert point.decode is not None
    return _disaggregated(point, point.prefill, point.decode, catalog, ratios)


def _colocated(point: ServingPoint, pool: Pool, catalog: Catalog, ratios: ServingRatios) -> Served:
    instance = pool_instance(point, pool, catalog, ratios)
    if isinstance(instance, Infeasible):
        return Served(None, None, instance.text)
    setup = SETUPS[point.engine]
    share = max(round(point.concurrency / pool.instances), 1)
    fleet = ColocatedFleet(instance, 1, setup.chunk_tokens * pool.attention_dp, setup.chunking, share)
    options = SimulationOptions(closed_loop_concurrency=share, samples=0)
    result = simulate_colocated(fleet, closed_loop_requests(point, share), options)
    return _means(result.records, share)


def _disaggregated(
    point: ServingPoint, first: Pool, second: Pool, catalog: Catalog, ratios: ServingRatios
) -> Served:
    prefill = pool_instance(point, first, catalog, ratios)
    decode = pool_instance(point, second, catalog, ratios)
    if isinstance(prefill, Infeasible):
        return Served(None, None, f"prefill: {prefill.text}")
    if isinstance(decode, Infeasible):
        return Served(None, None, f"decode: {decode.text}")
    path = TransferPath(
        link=catalog.links["ib_ndr"],  # not said by the file; assumed, one NIC a GPU
        latency_s=_TRANSFER_S,
        egress_byte_per_s=_LINK_BYTE_PER_S * first.gpus,
        ingress_byte_per_s=_LINK_BYTE_PER_S * second.gpus,
        fabric_fraction=1.0,
        layerwise_overlap=False,
        prefill_nics=first.gpus,
        decode_nics=second.gpus,
    )
    batch_tokens = max(SETUPS[point.engine].chunk_tokens, first.batch * point.input_tokens)
    fleet = DisaggregatedFleet(
        *(prefill, first.instances, decode, second.instances, path),
        prefill_batch_tokens=batch_tokens * first.attention_dp,
        max_batch=max(second.batch * second.attention_dp, 1),
        first_token_from="prefill",
    )
    options = SimulationOptions(closed_loop_concurrency=point.concurrency, samples=0)
    result = simulate_disaggregated(fleet, closed_loop_requests(point, point.concurrency), options)
    return _means(result.records, point.concurrency)


def closed_loop_requests(point: ServingPoint, concurrency: int) -> Requests:
    """Requests of a run, lengths uniform between length_ratios of the nominal. Long runs are cut to
    fewer
    rounds, which `_means` weighs as all.
    """
    count = _rounds(concurrency) * concurrency
    draws = np.random.default_rng(_SEED)

    def lengths(nominal: int) -> NDArray[np.int64]:
        low, high = (int(nominal * ratio) for ratio in point.length_ratios)
        return draws.integers(max(low, 1), high + 1, count)

    zeros = np.zeros(count)
    return Requests(
        arrival_s=zeros,
        input_tokens=lengths(point.input_tokens),
        cached_tokens=zeros.astype(np.int64),
        output_tokens=lengths(point.output_tokens),
    )


def _rounds(concurrency: int) -> int:
    if concurrency <= _MANY:
        return ROUNDS
    return _FEW_ROUNDS if concurrency <= _LARGEST_REPLAY else 2


def _means(records: Mapping[str, NDArray[np.float64]], concurrency: int) -> Served:
    """Means over all rounds; the first, in which everybody comes at once, weighs as one of ten."""
    ttft = records["first_token_s"] - records["arrival_s"]
    if np.isnan(ttft).any():
        return Served(None, None, "a request can never get the KV memory it needs")
    gaps = np.maximum(records["output_tokens"] - 1, 1)
    tpot = (records["finish_s"] - records["first_token_s"]) / gaps
    later = (ROUNDS - 1) / (_rounds(concurrency) - 1)
    weight = np.where(np.arange(ttft.size) < concurrency, 1.0, later)
    return Served(
        1e3 * float(np.average(ttft, weights=weight)), 1e3 * float(np.average(tpot, weights=weight)), ""
    )


def _configuration(point: ServingPoint) -> tuple[object, ...]:
    return (
        *(point.engine, point.accelerator, point.model, point.weight_format, point.kv_format),
        *(point.input_tokens, point.output_tokens, point.length_ratios, point.concurrency),
        *(point.colocated, point.prefill, point.decode, point.problem),
    )
