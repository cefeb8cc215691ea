"""How fast the simulator is: `python -m tests.benchmarks.bench_simulator [requests]` on an idle machine.

Azure conversation lengths (mean 1,155 in, 211 out), Poisson, Llama-3.1-8B on H100, one core: lean fleets of
1+1 and 20+20 instances; with block KV, prefix caches, a prefix-aware router and ITL; growth in requests and
instances, with memory; replications on one and two processes. Each line has requests a second by the wall
clock and by this process's own CPU time, and the load average: on a busy machine the second is the nearer to
the truth. Nothing is asserted.
"""

import os
import sys
import time
import tracemalloc
from functools import partial

import numpy as np

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.transfer import resolve_path
from pdexplorer.scenario.fleet_block import Model
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.workload_block import Workload
from pdexplorer.simulator.options import CacheOptions, SimulationOptions
from pdexplorer.simulator.replicate import replicate
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.simulator.split import OwnThreshold
from pdexplorer.workload.generate import generate_requests
from pdexplorer.workload.sessions import Sessions, session_requests

RATE_PER_INSTANCE = 10.0
FULL = SimulationOptions(
    routing="prefix_aware", cache=CacheOptions(), split_rule=OwnThreshold(256), refuse_ttft_s=60.0
)


def fleets(pairs):
    """A colocated fleet of 2·pairs instances and a disaggregated one of pairs + pairs."""
    catalog, scenario = load_catalog(), Scenario(model=Model(name="llama_3_1_8b", weight_format="bf16"))
    instance = resolve_instance(
        catalog, scenario, accelerator_id="h100_sxm", tp=1, pp=1, ep=1, attention_dp=1, weight_format=None
    )
    if isinstance(instance, Infeasible):
        raise SystemExit(instance.text)
    path = resolve_path(catalog, scenario, instance, instance)
    if isinstance(path, Infeasible):
        raise SystemExit(path.text)
    colocated = ColocatedFleet(instance, 2 * pairs, 2048, "chunked", 256)
    return colocated, DisaggregatedFleet(instance, pairs, instance, pairs, path, 8192, 256, "decode")


def traffic(pairs, requests, seed=1):
    workload = Workload(
        rate_per_s=2 * RATE_PER_INSTANCE * pairs, input_tokens=1155, output_tokens=211,
        input_p95_tokens=3700, output_p95_tokens=451,
    )  # fmt: skip
    return generate_requests(workload, requests, seed)


def sessions(pairs, requests):
    """Multi-turn traffic of about the same lengths: 1,155 in, 211 out, 4 turns."""
    kind = Sessions(
        rate_per_s=5 * RATE_PER_INSTANCE * pairs / 10, turns=4, system_tokens=512, message_tokens=120.0,
        answer_tokens=211.0, think_s=20.0,
    )  # fmt: skip
    return session_requests(kind, requests // 4, seed=1, block_tokens=128)


def measure(label, simulate, fleet, requests, options=None, tries=3):
    """Best of three: the machine is rarely idle."""
    wall_s = cpu_s = float("inf")
    for _ in range(tries):
        start, cpu_start = time.perf_counter(), time.process_time()
        result = simulate(fleet, requests, options)
        wall_s = min(wall_s, time.perf_counter() - start)
        cpu_s = min(cpu_s, time.process_time() - cpu_start)
    count = len(requests)
    print(
        f"{label:44s} {count:>9,d} requests {count / wall_s:>8,.0f}/s wall {count / cpu_s:>8,.0f}/s cpu "
        f"{1e6 * cpu_s / count:6.1f} us  completed {result.completed:,d}  load {os.getloadavg()[0]:.2f}",
        flush=True,
    )
    return 1e6 * cpu_s / count


def memory(label, simulate, fleet, requests):
    """Bytes a request at the peak of a replay, beyond the requests and the records it returns."""
    tracemalloc.start()
    result = simulate(fleet, requests, SimulationOptions())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    records = sum(column.nbytes for column in result.records.values())
    print(f"{label:44s} {(peak - records) / len(requests):,.0f} bytes a request beyond the records at peak")


def mean_ttft_s(requests, seed):
    """What one replication gives back."""
    colocated, _ = fleets(1)
    records = simulate_colocated(colocated, traffic(1, requests, seed)).records
    return float(np.mean(records["first_token_s"] - records["arrival_s"]))


def replications(requests):
    """Ten on one process and on two."""
    took_s = []
    for processes in (1, 2):
        start = time.perf_counter()
        found = replicate(partial(mean_ttft_s, requests), range(10), processes)
        took_s.append(time.perf_counter() - start)
        print(f"10 replications, {processes} processes: {took_s[-1]:.1f} s  load {os.getloadavg()[0]:.2f}")
        assert len(found) == 10
    print(f"two processes are {took_s[0] / took_s[1]:.2f} times as fast")


def main(requests):
    for pairs in (1, 20):
        colocated, disaggregated = fleets(pairs)
        given, chats = traffic(pairs, requests), sessions(pairs, requests)
        for kind, load, options in (("lean", given, None), ("full", chats, FULL)):
            measure(f"{kind}: colocated, {2 * pairs} instances", simulate_colocated, colocated, load, options)
            measure(
                f"{kind}: disaggregated, {pairs}+{pairs} instances",
                simulate_disaggregated, disaggregated, load, options,
            )  # fmt: skip
    for pairs in (1, 10, 100):
        colocated, disaggregated = fleets(pairs)
        given = traffic(pairs, 2 * requests)
        measure(f"instances: colocated, {2 * pairs}", simulate_colocated, colocated, given, tries=2)
        measure(
            f"instances: disaggregated, {pairs}+{pairs}",
            simulate_disaggregated, disaggregated, given, tries=2,
        )  # fmt: skip
    colocated, disaggregated = fleets(1)
    for count in (requests // 10, 10 * requests, 100 * requests):
        given = traffic(1, count)
        measure("growth: colocated, 2 instances", simulate_colocated, colocated, given, tries=1)
        measure("growth: disaggregated, 1+1", simulate_disaggregated, disaggregated, given, tries=1)
    for count in (requests, 4 * requests):
        memory(f"memory: colocated, {count:,d} requests", simulate_colocated, colocated, traffic(1, count))
        memory(
            f"memory: disaggregated, {count:,d} requests",
            simulate_disaggregated, disaggregated, traffic(1, count),
        )  # fmt: skip
    replications(requests)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
