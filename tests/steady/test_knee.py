"""Twenty seeded cases of the grid that tests/benchmarks/bench_knee.py runs whole."""

import numpy as np
import pytest

from pdexplorer.physics.fleet import ColocatedFleet
from tests.steady.knee import attainment, case, estimates

_CASES = 20
_REQUESTS = 700


@pytest.fixture(scope="module")
def sides() -> dict[str, list[tuple[float, float]]]:
    """By fleet: how far attainment lies above the SLO's percentile at 0.85 and at 1.15 of the estimate."""
    found: dict[str, list[tuple[float, float]]] = {"colocated": [], "disaggregated": []}
    for number in range(_CASES):
        one = case(number)
        needed = one.scenario.slo.percentile / 100.0
        for estimate in estimates(one):
            if estimate.fleet is None or estimate.rate_per_s <= 0.0:
                continue
            name = "colocated" if isinstance(estimate.fleet, ColocatedFleet) else "disaggregated"
            below, above = (
                attainment(one, estimate.fleet, part * estimate.rate_per_s, _REQUESTS) - needed
                for part in (0.85, 1.15)
            )
            found[name].append((below, above))
    return found


@pytest.mark.parametrize("fleet", ["colocated", "disaggregated"])
def test_most_fleets_hold_their_limits_below_the_estimated_capacity_and_miss_them_above(sides, fleet) -> None:
    rows = np.array(sides[fleet])
    assert len(rows) >= _CASES * 0.7
    assert np.mean(rows[:, 0] >= -0.02) >= 0.75
    assert np.mean(rows[:, 1] < 0.01) >= 0.6


@pytest.mark.parametrize("fleet", ["colocated", "disaggregated"])
def test_the_estimate_flatters_neither_fleet(sides, fleet) -> None:
    """Over all cases, what is missed just below the estimate and what is held just above it balance."""
    rows = np.array(sides[fleet])
    assert abs(np.median(rows[:, 0])) < 0.06
    assert np.median(rows[:, 1]) < 0.0
