"""Three runs side by side on the same conversations: colocated, split without reuse, split with reuse."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.physics.memory import kv_bytes, kv_moved_bytes
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.options import CacheOptions, SimulationOptions, options_of
from pdexplorer.simulator.records import COMPLETED, SimulationResult
from pdexplorer.simulator.tiers import Tier
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.replayed import Fleet, replayed
from pdexplorer.workload.requests import Requests
from pdexplorer.workload.sessions import Sessions, session_requests


@dataclass(frozen=True, slots=True)
class ReuseRow:
    """One run. hit_fraction: prompt tokens nobody had to compute, on the side that prefills.
    decode_hit_fraction: KV the decode side held already, so that it was not sent; 0 for a colocated fleet.
    bytes_per_request: KV over the link.
    """

    run: str
    hit_fraction: float
    decode_hit_fraction: float
    attainment_fraction: float
    goodput_per_s: float
    goodput_per_gpu_s: float
    ttft_p50_s: float
    ttft_p95_s: float
    tpot_p95_s: float
    bytes_per_request: float
    gpus: int


RUNS = ("colocated", "split_without_reuse", "split_with_reuse")


def prefix_reuse(
    evaluation: Evaluation,
    conversations: int = 150,
    seed: int = 0,
    report: Callable[[float], None] | None = None,
) -> tuple[ReuseRow, ...]:
    """Conversations and caches as the scenario's reuse.* say. Empty where a fleet cannot run. The last prompt
    of a conversation has about the scenario's input tokens; both fleets route to where the prompt is cached,
    and the run without reuse computes all of it. report: told the share done before each run.
    """
    one, other = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    if one is None or other is None:
        return ()
    scenario = evaluation.scenario
    requests = session_requests(_sessions(scenario), conversations, seed)
    plain = replace(
        requests, block_hashes=None, context_hashes=None, cached_tokens=np.zeros_like(requests.cached_tokens)
    )
    caches = replace(
        options_of(scenario),
        routing="prefix_aware",
        closed_loop_concurrency=None,
        cache=cache_options(scenario),
    )
    bare = replace(
        options_of(scenario),
        routing="least_loaded",
        closed_loop_concurrency=None,
        held_by_decode_fraction=0.0,
    )
    runs: tuple[tuple[Fleet, Requests, SimulationOptions], ...] = (
        (one, requests, caches),
        (other, plain, bare),
        (other, requests, caches),
    )
    rows: list[ReuseRow] = []
    for run, (fleet, asked, options) in zip(RUNS, runs, strict=True):
        if report is not None:
            report(len(rows) / len(RUNS))
        rows.append(_row(run, scenario, fleet, asked, options))
    return tuple(rows)


def cache_options(scenario: Scenario) -> CacheOptions:
    """The caches of reuse.*: free KV memory always, the tiers that have a size."""
    reuse = scenario.reuse
    return CacheOptions(
        host=_tier(reuse.host_gb, reuse.host_gb_per_s, reuse.host_latency_ms),
        ssd=_tier(reuse.ssd_gb, reuse.ssd_gb_per_s, reuse.ssd_latency_ms),
        store=_tier(reuse.store_gb, reuse.store_gb_per_s, reuse.store_latency_ms),
        write_back=reuse.write_back,
    )


def held_conversations(evaluation: Evaluation) -> dict[str, float]:
    """How many whole conversations the shared store keeps, and how many are open at once by Little's law."""
    fleet = evaluation.disaggregated_fleet or evaluation.colocated_fleet
    if fleet is None:
        return {}
    instance = fleet.prefill if hasattr(fleet, "prefill") else fleet.instance
    workload = evaluation.scenario.workload
    tokens = workload.input_tokens + workload.output_tokens
    sessions, reuse = _sessions(evaluation.scenario), evaluation.scenario.reuse
    size = float(kv_bytes(instance.architecture, instance.kv_format, tokens))
    return {
        "store": reuse.store_gb * 1e9 / size,
        "open": sessions.rate_per_s * (reuse.turns - 1) * reuse.think_s,
    }


def _tier(size_gb: float, gb_per_s: float, latency_ms: float) -> Tier | None:
    return Tier(size_gb * 1e9, gb_per_s * 1e9, latency_ms / 1e3) if size_gb > 0.0 else None


def _sessions(scenario: Scenario) -> Sessions:
    """Turns arrive at the scenario's rate and grow to its prompt length at the last turn."""
    workload, setup = scenario.workload, scenario.reuse
    answers = (setup.turns - 1) * workload.output_tokens
    spoken = max(workload.input_tokens - setup.system_tokens - answers, 16.0 * setup.turns)
    return Sessions(
        rate_per_s=workload.rate_per_s / setup.turns,
        turns=setup.turns,
        system_tokens=setup.system_tokens,
        message_tokens=spoken / setup.turns,
        answer_tokens=workload.output_tokens,
        think_s=setup.think_s,
    )


def _held(result: SimulationResult, fleet: Fleet) -> float:
    """Share of the KV of completed prompts that the link did not carry."""
    if isinstance(fleet, ColocatedFleet):
        return 0.0
    decode, done = fleet.decode, result.records["status"] == COMPLETED
    tokens = result.records["input_tokens"][done].astype(float)
    whole = kv_moved_bytes(decode.architecture, decode.kv_format, tokens, decode.parallelism.tp)
    total = float(np.sum(whole))
    return max(0.0, 1.0 - result.bytes_moved / total) if total > 0.0 else 0.0


def _row(
    run: str, scenario: Scenario, fleet: Fleet, requests: Requests, options: SimulationOptions
) -> ReuseRow:
    result, outcome = replayed(scenario, fleet, requests, options)
    nan = float("nan")
    ttft, tpot = outcome.ttft_s, outcome.tpot_s
    return ReuseRow(
        run,
        result.cached_fraction,
        _held(result, fleet),
        outcome.attainment_fraction or 0.0,
        outcome.goodput_per_s or 0.0,
        outcome.goodput_per_gpu_s or 0.0,
        nan if ttft is None else ttft.p50,
        nan if ttft is None else ttft.p95,
        nan if tpot is None else tpot.p95,
        result.bytes_moved / max(result.completed, 1),
        fleet.gpus,
    )
