"""Three runs side by side on the same conversations: colocated, split without reuse, split with reuse."""

from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.physics.memory import kv_bytes_per_token, kv_moved_bytes
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.options import CacheOptions, SimulationOptions, options_of
from pdexplorer.simulator.records import COMPLETED, SimulationResult
from pdexplorer.simulator.tiers import Tier
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.replayed import Fleet, replayed
from pdexplorer.workload.requests import Requests
from pdexplorer.workload.sessions import Sessions, session_requests


@dataclass(frozen=True, slots=True)
class ReuseSetup:
    """Conversations and caches. turns: of a conversation; a turn's answer is the scenario's output. pooled:
    the fleet shares a store of store_bytes read at store_byte_per_s; else each instance has its own memory
    only. write_back: generated tokens' KV returns to the prefill side for the next turn.
    """

    turns: int = 4
    system_tokens: int = 512
    think_s: float = 30.0
    pooled: bool = False
    store_bytes: float = 1e12
    store_byte_per_s: float = 20e9
    write_back: bool = True


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
    evaluation: Evaluation, setup: ReuseSetup | None = None, conversations: int = 150, seed: int = 0
) -> tuple[ReuseRow, ...]:
    """Empty where a fleet cannot run. The last prompt of a conversation has about the scenario's input
    tokens; both fleets route to where the prompt is cached, and the run without reuse computes all of it.
    """
    setup = setup or ReuseSetup()
    one, other = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    if one is None or other is None:
        return ()
    scenario = evaluation.scenario
    requests = session_requests(_sessions(scenario, setup), conversations, seed)
    plain = replace(
        requests, block_hashes=None, context_hashes=None, cached_tokens=np.zeros_like(requests.cached_tokens)
    )
    store = Tier(setup.store_bytes, setup.store_byte_per_s) if setup.pooled else None
    caches = replace(
        options_of(scenario),
        routing="prefix_aware",
        closed_loop_concurrency=None,
        cache=CacheOptions(store=store, write_back=setup.write_back),
    )
    bare = replace(options_of(scenario), routing="least_loaded", closed_loop_concurrency=None)
    return (
        _row(RUNS[0], scenario, one, requests, caches),
        _row(RUNS[1], scenario, other, plain, bare),
        _row(RUNS[2], scenario, other, requests, caches),
    )


def held_conversations(evaluation: Evaluation, setup: ReuseSetup | None = None) -> dict[str, float]:
    """How many whole conversations a store keeps, and how many are open at once by Little's law."""
    setup = setup or ReuseSetup()
    fleet = evaluation.disaggregated_fleet or evaluation.colocated_fleet
    if fleet is None:
        return {}
    instance = fleet.prefill if hasattr(fleet, "prefill") else fleet.instance
    workload = evaluation.scenario.workload
    tokens = workload.input_tokens + workload.output_tokens
    sessions = _sessions(evaluation.scenario, setup)
    return {
        "store": setup.store_bytes / (tokens * kv_bytes_per_token(instance.architecture, instance.kv_format)),
        "open": sessions.rate_per_s * (setup.turns - 1) * setup.think_s,
    }


def _sessions(scenario: Scenario, setup: ReuseSetup) -> Sessions:
    """Turns arrive at the scenario's rate and grow to its prompt length at the last turn."""
    workload = scenario.workload
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
