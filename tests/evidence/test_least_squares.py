"""The fitter finds known numbers, shrugs at outliers and keeps to its prior where rows say nothing."""

import numpy as np
import pytest

from pdexplorer.evidence.least_squares import fit_positive


def test_it_finds_the_numbers_behind_exact_rows() -> None:
    x = np.geomspace(1, 1000, 20)
    found = fit_positive(lambda t: t[0] + t[1] * x, np.array([1.0, 1.0]), 7.0 + 0.3 * x)
    np.testing.assert_allclose(found, [7.0, 0.3], rtol=1e-5)


def test_an_outlier_pulls_no_more_than_its_share() -> None:
    x = np.geomspace(1, 1000, 20)
    measured = 7.0 + 0.3 * x
    measured[10] *= 50
    found = fit_positive(lambda t: t[0] + t[1] * x, np.array([1.0, 1.0]), measured)
    np.testing.assert_allclose(found, [7.0, 0.3], rtol=0.15)


def test_what_rows_do_not_determine_stays_at_its_prior() -> None:
    measured = np.full(5, 6.0)
    start = np.array([2.0, 3.0])
    found = fit_positive(
        lambda t: np.full(5, t[0] * t[1]), start, 2 * measured, prior_weights=np.array([1e-3, 1e3])
    )
    assert found[1] == pytest.approx(3.0, rel=1e-3)
    assert found[0] == pytest.approx(4.0, rel=1e-2)
