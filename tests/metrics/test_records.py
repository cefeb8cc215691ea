import numpy as np
import pytest

from pdexplorer.metrics.records import itl_percentiles, meets
from pdexplorer.scenario.workload_block import Slo


def test_a_request_must_hold_every_limit() -> None:
    ttft, tpot = np.array([1.0, 3.0, 1.0, 1.0]), np.array([0.04, 0.04, 0.06, np.nan])
    held = meets(Slo(ttft_s=2.0, tpot_ms=50.0), ttft, tpot, ttft + 10)
    assert held.tolist() == [True, False, False, True]
    assert meets(Slo(ttft_s=None, tpot_ms=None, e2e_s=12.0), ttft, tpot, ttft + 10).tolist() == [
        True,
        False,
        True,
        True,
    ]


def test_itl_percentiles_come_from_the_histogram() -> None:
    bins = np.arange(3) * 1e-4 + 0.01
    spread = itl_percentiles(bins, np.array([90, 8, 2]))
    assert spread is not None
    assert (spread.p50, spread.p95, spread.p99) == pytest.approx((0.01005, 0.01015, 0.01025))
    assert itl_percentiles(bins, np.zeros(3, dtype=np.int64)) is None
