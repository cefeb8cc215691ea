"""Closed form against replays over a seeded grid: `python -m tests.benchmarks.bench_knee [cases] [first]`.

For each fleet of each case: what the closed form says it carries ÷ the load at which a replay of some
thousand requests misses the SLO. Prints the distribution and every case outside 10%. About an hour for 200
cases on one core.
"""

import os
import sys

import numpy as np

from tests.steady.knee import Case, case, estimates, knee

_NEAR = 0.1


def ratios(one: Case) -> list[tuple[str, float, float]]:
    """(fleet, closed form, replay) in requests per second, of the fleets that can serve at all."""
    found = []
    both = estimates(one)
    for name, mine, other in zip(("colocated", "disaggregated"), both, both[::-1], strict=True):
        if mine.fleet is None:
            continue
        replayed = knee(one, mine.fleet, mine.rate_per_s or other.rate_per_s or 0.3)
        if replayed > 0.0 or mine.rate_per_s > 0.0:
            found.append((name, mine.rate_per_s, replayed))
    return found


def main(cases: int, first: int) -> None:
    rows = []
    for number in range(first, first + cases):
        one = case(number)
        for name, closed, replayed in ratios(one):
            ratio = closed / replayed if replayed > 0.0 else np.inf
            rows.append((name, number, ratio))
            if abs(ratio - 1.0) > _NEAR:
                print(
                    f"{name:14s} {ratio:5.2f}  {closed:8.2f} against {replayed:8.2f}/s  {one.label}",
                    flush=True,
                )
    for name in ("colocated", "disaggregated"):
        found = [(number, ratio) for fleet, number, ratio in rows if fleet == name]
        if found:
            values = np.array([ratio for _, ratio in found])
            near = float(np.mean(np.abs(values - 1.0) <= _NEAR))
            spread = " ".join(f"{v:.2f}" for v in np.percentile(values, [5, 25, 50, 75, 95]))
            print(f"{name}: {len(values)} fleets, {near:.0%} within 10%; ratio P5 P25 P50 P75 P95 {spread}")
            off = ", ".join(f"#{number} {ratio:.2f}" for number, ratio in found if abs(ratio - 1.0) > _NEAR)
            print(f"  off: {off or 'none'}")
    print(f"load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main(*(int(value) for value in [*sys.argv[1:], *("200", "0")[len(sys.argv) - 1 :]]))
