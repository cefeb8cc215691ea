"""Length distributions have the mean and percentile they are asked for."""

from statistics import NormalDist

import numpy as np
import pytest

from pdexplorer.workload.lengths import length_quantiles, length_sample
from pdexplorer.workload.normal import normal_quantile

MANY = (np.arange(400_000) + 0.5) / 400_000


@pytest.mark.parametrize("ratio", [1.0, 1.2, 2.5, 3.5])
@pytest.mark.parametrize("distribution", ["lognormal", "heavy_tail"])
def test_mean_and_percentile(distribution, ratio):
    lengths = length_quantiles(distribution, 1000.0, 1000.0 * ratio, MANY)
    assert lengths.mean() == pytest.approx(1000.0, rel=1e-3)
    assert np.quantile(lengths, 0.95) == pytest.approx(1000.0 * ratio, rel=1e-3)
    assert (np.diff(lengths) >= 0).all()


def test_a_heavy_tail_carries_more_in_its_top_percent():
    tail = length_quantiles("heavy_tail", 1000.0, 2500.0, MANY)
    lognormal = length_quantiles("lognormal", 1000.0, 2500.0, MANY)
    assert tail[-4000:].sum() > 1.5 * lognormal[-4000:].sum()
    assert tail.max() < 20 * 2500.0


def test_fixed_and_the_default_percentile():
    assert (length_quantiles("fixed", 70.0, None, MANY[:3]) == 70.0).all()
    lengths = length_quantiles("lognormal", 1000.0, None, MANY)
    assert np.quantile(lengths, 0.95) == pytest.approx(2500.0, rel=1e-3)


def test_nothing_is_shorter_than_a_token():
    assert length_quantiles("lognormal", 1.5, 4.0, MANY).min() == 1.0
    sample = length_sample("heavy_tail", 2.0, 5.0, 1000, np.random.default_rng(0))
    assert sample.dtype == np.int64
    assert sample.min() == 1


def test_unknown_distribution():
    with pytest.raises(ValueError, match="fixed, lognormal or heavy_tail"):
        length_quantiles("uniform", 10.0, None, MANY[:1])


def test_normal_quantile_against_the_standard_library():
    u = np.array([1e-12, 1e-5, 0.01, 0.3, 0.5, 0.77, 0.99, 1 - 1e-9])
    expected = [NormalDist().inv_cdf(each) for each in u]
    np.testing.assert_allclose(normal_quantile(u), expected, rtol=1e-12, atol=1e-14)
