"""The load at which a fleet of whole instances stops holding its limits, in closed form and in a replay."""

from dataclasses import dataclass

import numpy as np

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.records import meets
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.transfer import resolve_path
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.options import options_of
from pdexplorer.simulator.records import COMPLETED
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.steady.colocated import colocated_flow
from pdexplorer.steady.colocated_capacity import colocated_capacity
from pdexplorer.steady.load import load_of
from pdexplorer.study.search.score import DisaggregatedScore, score_colocated, score_disaggregated
from pdexplorer.study.search.space import design_space
from pdexplorer.study.search.split_outcome import fleet_capacities
from pdexplorer.workload.generate import generate_requests

_MODELS = (
    ("llama_3_1_8b", "bf16", (("h100_sxm", 1), ("l40s", 1), ("a100_80_sxm", 1))),
    ("llama_3_1_70b", "fp8", (("h100_sxm", 2), ("h100_sxm", 4), ("h200_sxm", 2), ("h20_96", 4))),
    ("qwen3_32b", "fp8", (("h100_sxm", 1), ("h100_sxm", 2), ("h20_96", 2))),
    ("qwen3_30b_a3b", "fp8", (("h100_sxm", 1), ("l40s", 2))),
    ("gpt_oss_120b", "mxfp4", (("h100_sxm", 2), ("b200_sxm", 1))),
    ("qwen3_8b", "bf16", (("h100_sxm", 1), ("rtx_pro_6000_server", 1))),
    ("deepseek_v3", "fp8", (("h200_sxm", 8),)),
)
_LINKS = ("eth_25", "roce_100", "roce_200", "roce_400", "nvlink4")


@dataclass(frozen=True)
class Case:
    """One point of the grid, reproducible from its number."""

    number: int
    scenario: Scenario

    @property
    def label(self) -> str:
        s, w = self.scenario, self.scenario.workload
        return (
            f"#{self.number} {s.model.name} {s.colocated.accelerator}x{s.colocated.tp} "
            f"n{s.colocated.instances} p{s.prefill.instances} d{s.decode.instances} "
            f"{w.input_tokens:.0f}/{w.output_tokens:.0f} {w.input_distribution} hit{w.prefix_hit_fraction:g} "
            f"b{w.burstiness:g} chunk{s.colocated.chunk_tokens} ttft{s.slo.ttft_s:g} tpot{s.slo.tpot_ms:g} "
            f"p{s.slo.percentile:g} {s.network.link}"
        )


def case(number: int) -> Case:
    """Everything drawn from the number alone."""
    pick = np.random.default_rng(number)

    def one(values):
        return values[int(pick.integers(len(values)))]

    name, weights, machines = one(_MODELS)
    accelerator, tp = one(machines)
    hit = one((0.0, 0.0, 0.3, 0.7))
    inputs = float(np.round(np.exp(pick.uniform(np.log(300.0), np.log(24000.0)))))
    outputs = float(np.round(np.exp(pick.uniform(np.log(30.0), np.log(600.0)))))
    distribution = one(("fixed", "lognormal", "lognormal", "heavy_tail"))
    bursty = one((None, None, None, 0.5))
    pool = {"accelerator": accelerator, "tp": tp}
    return Case(
        number,
        Scenario.model_validate(
            {
                "model": {"name": name, "weight_format": weights},
                "workload": {
                    "rate_per_s": 1.0,
                    "arrivals": "poisson" if bursty is None else "gamma",
                    "burstiness": bursty or 1.0,
                    "peak_to_mean_ratio": 1.0,
                    "input_tokens": inputs,
                    "input_distribution": distribution,
                    "output_tokens": outputs,
                    "output_distribution": distribution,
                    "prefix_hit_fraction": hit,
                    "warm_fraction": 1.0 if hit == 0.0 else one((1.0, min(1.0, hit + 0.1))),
                },
                "slo": {
                    "ttft_s": one((0.4, 0.8, 1.5, 3.0)),
                    "tpot_ms": one((20.0, 30.0, 50.0, 80.0)),
                    "percentile": one((90.0, 95.0, 95.0, 95.0)),
                },
                "colocated": {
                    **pool, "chunk_tokens": one((1024, 2048, 4096, 8192)), "instances": one((1, 2, 4)),
                },
                "prefill": {**pool, "instances": one((1, 2, 3))},
                "decode": {**pool, "instances": one((1, 2, 3))},
                "network": {"link": one(_LINKS), "layerwise_overlap": one((False, True))},
            }
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """What the closed form says a fleet carries, requests per second; 0 where not even one request fits."""

    fleet: ColocatedFleet | DisaggregatedFleet | None
    rate_per_s: float


def estimates(one: Case) -> tuple[Estimate, Estimate]:
    """Of the colocated and the disaggregated fleet."""
    scenario, catalog = one.scenario, load_catalog()
    space, load = design_space(scenario, catalog), load_of(scenario)
    none = Estimate(None, 0.0)
    first, second = none, none
    n = scenario.colocated.instances
    score = score_colocated(space, load)
    if score is not None:
        count = np.full((1, 1, 1, 1), float(n))
        found = colocated_capacity(score.designs, count)
        in_flight, fits = found.x, found.fits
        rate = float(colocated_flow(score.designs, in_flight).rate_per_s.item()) * n if fits.item() else 0.0
        pool = scenario.colocated
        fleet = ColocatedFleet(
            space.colocated[0], n, pool.chunk_tokens, scenario.engine.chunking, pool.max_batch
        )
        first = Estimate(fleet, rate)
    split = score_disaggregated(space, load)
    if isinstance(split, DisaggregatedScore):
        p, d = scenario.prefill.instances, scenario.decode.instances
        path = resolve_path(catalog, scenario, space.prefill[0], space.decode[0])
        if not isinstance(path, Infeasible):
            pools = DisaggregatedFleet(
                space.prefill[0], p, space.decode[0], d, path, scenario.engine.prefill_batch_tokens,
                scenario.decode.max_batch, scenario.network.first_token_from,
            )  # fmt: skip
            carried = fleet_capacities(split.designs, np.array([p]), np.array([d]))
            second = Estimate(pools, float(carried[0]))
    return first, second


def attainment(one: Case, fleet, rate_per_s: float, requests: int, seed: int = 1) -> float:
    """Share of a replay's requests that hold every limit; the first fifth and last tenth do not count."""
    scenario = one.scenario
    given = generate_requests(scenario.workload, requests, seed, rate_scale=rate_per_s)
    simulate = simulate_colocated if isinstance(fleet, ColocatedFleet) else simulate_disaggregated
    rows = simulate(fleet, given, options_of(scenario)).records
    steps = rows["output_tokens"] - 1
    held = meets(
        scenario.slo,
        rows["first_token_s"] - rows["arrival_s"],
        np.where(steps > 0, (rows["finish_s"] - rows["first_token_s"]) / np.maximum(steps, 1), np.nan),
        rows["finish_s"] - rows["arrival_s"],
    ) & (rows["status"] == COMPLETED)
    order = np.argsort(rows["arrival_s"])[int(0.2 * requests) : int(0.9 * requests)]
    return float(held[order].mean())


def knee(one: Case, fleet, guess_per_s: float, requests: int = 2000) -> float:
    """The rate at which attainment falls through the percentile, by bisection to 3%; 0 where it never holds.

    A fleet takes a while to fill and an overloaded queue a while to grow: replays last several times both.
    """
    needed = one.scenario.slo.percentile / 100.0
    pool = fleet.instances if isinstance(fleet, ColocatedFleet) else fleet.decode_instances
    # In flight at the knee: by Little's law, within the TPOT limit.
    flying = guess_per_s * one.scenario.workload.output_tokens * one.scenario.slo.tpot_ms * 1e-3
    settle = max(10.0 * min(flying, pool * fleet.max_batch), 15.0 * guess_per_s * one.scenario.slo.ttft_s)
    requests = int(min(max(requests, settle), 6 * requests))

    def holds(rate: float) -> bool:
        return attainment(one, fleet, rate, requests) >= needed

    low, high = guess_per_s, guess_per_s
    if holds(guess_per_s):
        while holds(high := high * 1.2):
            low = high
    else:
        if not holds(guess_per_s * 0.01):
            return 0.0
        while not holds(low := low / 1.25):
            high = low
    while high / low > 1.03:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if holds(middle) else (low, middle)
    return float(np.sqrt(low * high))
