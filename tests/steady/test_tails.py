import math

import numpy as np
import pytest

from pdexplorer.steady.tails import (
    conditional_wait_cv2,
    mean_wait_s,
    normal_cdf,
    one_server_wait_s,
    wait_probability,
    weibull_of,
)


def test_one_server_is_pollaczek_khinchine() -> None:
    for cv2 in (0.0, 1.0, 3.0):
        expected = 0.7 / (2 * 0.3) * (1 + cv2) * 2.0
        assert float(mean_wait_s(0.7, 1.0, 2.0, cv2, 1.0)) == pytest.approx(expected)
        assert float(one_server_wait_s(0.7, 2.0, cv2)) == pytest.approx(expected)


def test_many_servers_are_close_to_erlang_c() -> None:
    for servers, load in ((2, 0.8), (4, 0.9), (8, 0.9)):
        offered = servers * load
        last = offered**servers / math.factorial(servers) / (1 - load)
        erlang = last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)
        assert float(wait_probability(load, servers)) == pytest.approx(erlang, rel=0.05)


def test_a_full_queue_waits_for_ever() -> None:
    assert np.isinf(mean_wait_s(np.array(1.0), 1.0, 1.0, 1.0, 1.0))


def test_normal_cdf() -> None:
    z = np.linspace(-4, 4, 81)
    exact = [0.5 * math.erfc(-x / math.sqrt(2)) for x in z]
    assert np.allclose(normal_cdf(z), exact, atol=3e-4)


def test_weibull_has_mean_one_and_the_variation_asked_for() -> None:
    for cv2 in (1.0 / 3.0, 1.0, 3.0):
        shape, scale = weibull_of(np.array(cv2, dtype=np.float32))
        assert shape.dtype == np.float32  # or maps would run in 64 bits
        gamma = [math.gamma(1.0 + k / float(shape)) for k in (1, 2)]
        assert float(scale) * gamma[0] == pytest.approx(1.0, rel=0.01)
        assert gamma[1] / gamma[0] ** 2 - 1.0 == pytest.approx(cv2, rel=0.12)


def test_conditional_wait_of_constant_and_exponential_service() -> None:
    assert conditional_wait_cv2(0.5, 1.0, 1.0, 1.0) == pytest.approx(2.0 / 3.0)  # Takács, M/D/1
    assert conditional_wait_cv2(0.7, 1.0, 2.0, 6.0) == pytest.approx(1.0)  # M/M/1
