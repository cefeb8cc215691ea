"""Mean TTFT and TPOT of measured serving runs: the fleet of each row replayed in a closed loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_pools import Pool
from pdexplorer.evidence.serving_setup import (
    SETUPS,
    TIGHT_MEMORY_FRACTION,
    chunk_tokens,
    company_steps,
    compiles,
    decode_slots,
    rounds,
    runs_eagerly,
    slots,
    turns_deep_gemm_on,
    young,
)
from pdexplorer.evidence.serving_split import SplitNumbers, handshake_ms, prefill_ratios
from pdexplorer.evidence.serving_vllm import graph_tokens, host_layer_s
from pdexplorer.evidence.serving_waits import drafted_ms, replayed_tokens, request_keys, wait_ms
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.instance import Instance, Parallelism, build_instance
from pdexplorer.physics.memory import kv_capacity_tokens, weight_bytes
from pdexplorer.physics.serving import (
    ServingRatios,
    in_serving,
    requantising,
    serving_document,
    serving_ratios_of,
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
    """Everything fitted to serving runs. ratios: of kernels; request_s: what a request costs besides
    steps, by `request_keys`; draft_acceptance: share of drafted tokens that hold; compile_s: what a first
    wave waits for kernels, by format of weights; split: of split fleets.
    """

    ratios: ServingRatios
    request_s: Mapping[str, float]
    draft_acceptance: float
    compile_s: Mapping[str, float]
    split: SplitNumbers = field(default_factory=SplitNumbers)

    @property
    def count(self) -> int:
        """How many numbers they are."""
        return self.ratios.count + len(self.request_s) + 1 + len(self.compile_s) + self.split.count


@dataclass(frozen=True, slots=True)
class Served:
    """Predicted means of one run, None and a reason where it cannot be predicted."""

    ttft_ms: float | None
    tpot_ms: float | None
    reason: str


def shipped_numbers() -> ServingNumbers:
    """The numbers of the catalogue."""
    return numbers_in(serving_document())


def numbers_in(document: Mapping[str, Any]) -> ServingNumbers:
    """The numbers of a parsed efficiencies_serving.toml, as `serving_file.serving_toml` writes them."""
    waits = document["waits"]
    return ServingNumbers(
        serving_ratios_of(document),
        waits["request_s"],
        waits["draft_acceptance"],
        waits["compile_s"],
        SplitNumbers(**waits["split"]),
    )


def predict_serving(
    points: Sequence[ServingPoint], catalog: Catalog | None = None, numbers: ServingNumbers | None = None
) -> list[Served]:
    """Predictions in the order of the points."""
    catalogue = catalog or load_catalog()
    used = numbers or shipped_numbers()
    replays = replay_serving(points, catalogue, used.ratios, used.split)
    return [with_waits(point, raw, catalogue, used) for point, raw in zip(points, replays, strict=True)]


def with_waits(point: ServingPoint, raw: Served, catalog: Catalog, numbers: ServingNumbers) -> Served:
    """A replay plus what a request waits outside the engine's steps, and fewer, longer steps where each
    yields several tokens. Where no run told what a request costs, it costs what the engine's profile says.
    """
    if raw.ttft_ms is None or raw.tpot_ms is None:
        return raw
    request = 1e3 * next(
        (numbers.request_s[key] for key in request_keys(point, catalog) if key in numbers.request_s),
        catalog.engines[point.engine].request_overhead_s,
    )
    if compiles(point):
        request += 1e3 * numbers.compile_s.get(point.weight_format, 0.0) / rounds(point)
    if point.colocated is None:
        request += handshake_ms(point, raw.tpot_ms)
    pool = point.colocated or point.decode
    assert pool is not None
    instance = pool_instance(point, pool, catalog, numbers.ratios)
    assert not isinstance(instance, Infeasible)
    step_ms, tpot_ms = drafted_ms(point, instance, raw.tpot_ms, raw.ttft_ms, numbers.draft_acceptance)
    wait = wait_ms(point, catalog, instance, step_ms)
    return Served(raw.ttft_ms + request + wait, tpot_ms, "")


def replay_serving(
    points: Sequence[ServingPoint],
    catalog: Catalog,
    ratios: ServingRatios,
    split: SplitNumbers | None = None,
) -> list[Served]:
    """The engines' own TTFT and TPOT; equal configurations are replayed once."""
    known: dict[tuple[object, ...], Served] = {}
    results = []
    for point in points:
        key = _configuration(point, catalog)
        if key not in known:
            known[key] = _replay(point, catalog, ratios, split or SplitNumbers())
        results.append(known[key])
    return results


def pool_instance(
    point: ServingPoint, pool: Pool, catalog: Catalog, ratios: ServingRatios
) -> Instance | Infeasible:
    """One instance of a pool as it served, its memory checked."""
    accelerator, architecture = catalog.accelerators[point.accelerator], catalog.models[point.model]
    setup = SETUPS[point.engine]
    # What a request costs besides steps is ServingNumbers.request_s here.
    engine = replace(
        catalog.engines[point.engine],
        request_overhead_s=0.0,
        graph_tokens=graph_tokens(point),
        host_layer_s=host_layer_s(point, catalog),
    )
    parallelism = Parallelism(pool.tp, pool.pp, pool.ep, pool.attention_dp)
    if runs_eagerly(point):
        without = catalog.engines["vllm_2023"]
        engine = replace(
            engine, step_overhead_s=without.step_overhead_s, layer_overhead_s=without.layer_overhead_s
        )
    fraction = setup.memory_fraction
    if setup.of_free and accelerator.usable_memory_bytes:
        weights = weight_bytes(architecture, point.weight_format, parallelism)
        fraction += (1.0 - fraction) * min(weights / accelerator.usable_memory_bytes, 1.0)
    instance = build_instance(
        accelerator,
        architecture,
        parallelism,
        point.weight_format,
        point.kv_format,
        engine,
        memory_fraction=fraction,
    )
    if isinstance(instance, Infeasible):
        return instance
    if isinstance(kv_capacity_tokens(instance), Infeasible):
        instance = replace(instance, memory_fraction=TIGHT_MEMORY_FRACTION)
    capacity = kv_capacity_tokens(instance)
    if isinstance(capacity, Infeasible):
        return capacity
    return in_serving(instance, ratios, young(point, catalog))


def _replay(point: ServingPoint, catalog: Catalog, ratios: ServingRatios, split: SplitNumbers) -> Served:
    if point.problem:
        return Served(None, None, point.problem)
    if point.engine not in SETUPS:
        known = ", ".join(SETUPS)
        return Served(None, None, f"how {point.engine} was launched is not known; known are {known}")
    if point.colocated is not None:
        return _colocated(point, point.colocated, catalog, ratios)
    assert point.prefill is not None
    assert point.decode is not None
    if turns_deep_gemm_on(point):
        ratios = requantising(ratios)
    prefill = pool_instance(point, point.prefill, catalog, prefill_ratios(ratios, split.of(point)))
    decode = pool_instance(point, point.decode, catalog, ratios)
    if isinstance(prefill, Infeasible):
        return Served(None, None, f"prefill: {prefill.text}")
    if isinstance(decode, Infeasible):
        return Served(None, None, f"decode: {decode.text}")
    return _disaggregated(point, point.prefill, point.decode, catalog, prefill, decode)


def _colocated(point: ServingPoint, pool: Pool, catalog: Catalog, ratios: ServingRatios) -> Served:
    instance = pool_instance(point, pool, catalog, ratios)
    if isinstance(instance, Infeasible):
        return Served(None, None, instance.text)
    share = max(round(point.concurrency / pool.instances), 1)
    budget = chunk_tokens(point) * pool.attention_dp
    fleet = ColocatedFleet(instance, 1, budget, SETUPS[point.engine].chunking, slots(point))
    options = SimulationOptions(
        closed_loop_concurrency=share,
        samples=0,
        scheduled_ahead=SETUPS[point.engine].ahead,
        company=pool.attention_dp,
        company_steps=company_steps(point, catalog),
    )
    result = simulate_colocated(fleet, closed_loop_requests(point, share), options)
    return _means(point, result.records, share)


def _disaggregated(
    point: ServingPoint, first: Pool, second: Pool, catalog: Catalog, prefill: Instance, decode: Instance
) -> Served:
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
    batch_tokens = max(chunk_tokens(point), first.batch * point.input_tokens)
    fleet = DisaggregatedFleet(
        *(prefill, first.instances, decode, second.instances, path),
        prefill_batch_tokens=batch_tokens * first.attention_dp,
        max_batch=decode_slots(point) * second.attention_dp,
        first_token_from="decode",
    )
    options = SimulationOptions(routing="frontends", closed_loop_concurrency=point.concurrency, samples=0)
    requests = closed_loop_requests(point, point.concurrency)
    steps = np.ceil(requests.output_tokens / replayed_tokens(point)).astype(np.int64)
    result = simulate_disaggregated(fleet, replace(requests, output_tokens=steps), options)
    return _means(point, result.records, point.concurrency)


def closed_loop_requests(point: ServingPoint, concurrency: int) -> Requests:
    """Requests of a run, lengths uniform between length_ratios of the nominal. Long runs are cut to
    fewer
    rounds, which `_means` weighs as all.
    """
    count = _replayed_rounds(point, concurrency) * concurrency
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


def _replayed_rounds(point: ServingPoint, concurrency: int) -> int:
    most = rounds(point)
    if concurrency <= _MANY:
        return most
    return min(_FEW_ROUNDS if concurrency <= _LARGEST_REPLAY else 2, most)


def _means(point: ServingPoint, records: Mapping[str, NDArray[np.float64]], concurrency: int) -> Served:
    """Means over all rounds; the first, in which everybody comes at once, weighs as one of them."""
    ttft = records["first_token_s"] - records["arrival_s"]
    if np.isnan(ttft).any():
        return Served(None, None, "a request can never get the KV memory it needs")
    gaps = np.maximum(records["output_tokens"] - 1, 1)
    tpot = (records["finish_s"] - records["first_token_s"]) / gaps
    later = (rounds(point) - 1) / max(_replayed_rounds(point, concurrency) - 1, 1)
    weight = np.where(np.arange(ttft.size) < concurrency, 1.0, later)
    return Served(
        1e3 * float(np.average(ttft, weights=weight)), 1e3 * float(np.average(tpot, weights=weight)), ""
    )


def _configuration(point: ServingPoint, catalog: Catalog) -> tuple[object, ...]:
    return (
        *(point.engine, point.accelerator, point.model, point.weight_format, point.kv_format),
        *(point.input_tokens, point.output_tokens, point.length_ratios, point.concurrency),
        *(point.colocated, point.prefill, point.decode, point.problem, young(point, catalog)),
        *(point.own_sweep, chunk_tokens(point), graph_tokens(point), point.recipe),
    )
