import numpy as np

from pdexplorer.steady.solve import EXACT, ROUGH, largest, meet, room_score


def test_largest_finds_each_cell_and_says_where_none_fits() -> None:
    limit = np.array([0.5, 3.0, 77.0, 1e9, 1e-9])
    found = largest(lambda v: (np.clip(1 - v / limit, -1, 1),), np.full(5, 0.01), np.full(5, 256.0))
    assert found.fits.tolist() == [True, True, True, True, False]
    assert np.allclose(found.x, [0.5, 3.0, 77.0, 256.0, 0.01], rtol=1e-6)


def test_meet_is_exact_and_clamps() -> None:
    target = np.array([0.1, 5.0, 900.0, 1e9])
    x = meet(lambda v: v**2 + v, target, np.full(4, 1e-6), np.full(4, 1e3))
    assert np.allclose((x**2 + x)[:3], target[:3], rtol=1e-12)
    assert np.isclose(x[3], 1e3)


def test_the_first_of_several_limits_decides_and_a_rough_search_comes_within_its_precision() -> None:
    one, other = np.geomspace(0.3, 90.0, 200), np.geomspace(200.0, 1.0, 200)

    def scores(x: np.ndarray) -> tuple[np.ndarray, ...]:
        return 5.0 * np.log(one / x), room_score(x / other)

    low, high = np.full(200, 0.01), np.full(200, 256.0)
    exact, rough = (largest(scores, low, high, effort) for effort in (EXACT, ROUGH))
    assert exact.fits.all()
    assert np.allclose(exact.x, np.minimum(one, other), rtol=1e-6)
    assert np.allclose(rough.x, exact.x, rtol=0.02)
