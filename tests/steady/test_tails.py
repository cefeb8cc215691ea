import math

import numpy as np
import pytest

from pdexplorer.steady.tails import mean_wait_s, normal_cdf, one_server_wait_s, wait_probability


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
