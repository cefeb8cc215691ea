"""Replications: in order, and the same on one process and on two."""

import pytest

from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.replicate import replicate
from pdexplorer.simulator.specs import EngineSpec
from tests.simulator.fakes import FakeTimer, poisson, requests_of


def last_finish_s(seed):
    given = requests_of(poisson(5.0, 50, seed), 100, 20)
    spec = EngineSpec(FakeTimer(), 1, 1000)
    return Colocated(spec, given, SimulationOptions()).run().records["finish_s"].max()


def test_parallel_equals_serial():
    serial = replicate(last_finish_s, range(4))
    assert replicate(last_finish_s, range(4), processes=2) == serial
    assert len(set(serial)) == 4
    with pytest.raises(ValueError, match="at least 1"):
        replicate(last_finish_s, range(4), processes=0)
