"""Two measured vLLM runs against their replay, printed: python -m tests.benchmarks.bench_vllm_runs."""

import sys

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence.vllm_runs import (
    CALIBRATION_REQUESTS,
    Factors,
    VllmRun,
    calibrate,
    default_factors,
    read_vllm_runs,
    replay,
    run_instance,
    score,
)
from pdexplorer.physics.memory import kv_capacity_tokens
from tests.shared_data import SHARED_DATA


def print_run(run: VllmRun, factors: Factors, what: str) -> None:
    """One table: the scored requests under these factors."""
    replayed = replay(run, factors)
    print(
        f"  {what}: kernels × {factors.kernel_ratio:.3f}, {1e3 * factors.step_overhead_s:.2f} ms a step; "
        f"{replayed.preemptions} preemptions"
    )
    for row in score(run, replayed):
        print(
            f"    {row.metric} {row.statistic:5s} measured {row.measured_s:10.4f} s "
            f"predicted {row.predicted_s:10.4f} s {100 * row.error_fraction:+6.1f}% "
            f"{'met' if row.met else 'missed'}"
        )


def main() -> None:
    path = SHARED_DATA / "measured" / "vllm_runs.csv"
    if not path.exists():
        sys.exit("../shared/data/measured/vllm_runs.csv is not here")
    catalog = load_catalog()
    for run in read_vllm_runs(path):
        capacity = kv_capacity_tokens(run_instance(run, catalog))
        print(f"{run.model} on {run.accelerator}, at most {run.max_batch} running, {capacity:,.0f} KV tokens")
        print_run(run, default_factors(run, catalog), "uncalibrated")
        print_run(run, calibrate(run, catalog), f"calibrated on the first {CALIBRATION_REQUESTS}")


if __name__ == "__main__":
    main()
