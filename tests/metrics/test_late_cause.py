"""The cause of late first tokens, on replays whose cause is known."""

import numpy as np
import pytest

from pdexplorer.metrics.late_cause import late_cause
from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.faulty_disaggregated import FaultyDisaggregated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from tests.simulator.fakes import FakeTimer, requests_of

TIMER = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-4)
LINK = LinkSpec(0.0, 1e8, 1e9)


def replay(given, *faults, decode_blocks=10**5, link=LINK):
    """Prompts of 1,000 tokens prefill in 0.11 s, move in 1 s and decode their first token in 0.01 s."""
    fleet = FaultyDisaggregated if faults else Disaggregated
    return fleet(
        PrefillSpec(TIMER, 1, kv_blocks=10**5),
        EngineSpec(TIMER, 1, kv_blocks=decode_blocks),
        link,
        False,
        (given.input_tokens * 1e5).tolist(),
        given,
        SimulationOptions(faults=faults),
    ).run()


def test_a_slow_link_is_named_while_prefill_is_normal():
    given = requests_of(np.arange(20) * 10.0, 1000, 5)
    assert late_cause(replay(given).records, 1.2) is None
    found = late_cause(replay(given, Fault("slow_link", 95.0, 195.0, rate_fraction=0.25)).records, 1.2)
    assert (found.cause, found.late_requests) == ("slow_transfer", 10)
    assert found.excess_s == pytest.approx(3.0)


def test_a_link_that_was_always_slow_is_named_too():
    given = requests_of(np.arange(5) * 10.0, 1000, 5)
    found = late_cause(replay(given, link=LinkSpec(0.0, 5e7, 1e9)).records, 1.2)
    assert (found.cause, found.late_requests) == ("slow_transfer", 5)
    assert found.excess_s == pytest.approx(2.0)


def test_prompts_that_come_together_queue():
    given = requests_of([0.0] * 30, 8192, 1)
    found = late_cause(replay(given, link=LinkSpec(0.0, 1e12, 1e12)).records, 2.0)
    assert found.cause == "queue"


def test_a_long_prompt_is_slow_prefill():
    given = requests_of(np.arange(10) * 20.0, [1000] * 9 + [50_000], 5)
    found = late_cause(replay(given, link=LinkSpec(0.0, 1e12, 1e12)).records, 1.0)
    assert (found.cause, found.late_requests) == ("slow_prefill", 1)
    assert found.excess_s == pytest.approx(4.9)


def test_a_full_decode_side_is_not_the_links_fault():
    given = requests_of([0.0, 1.0], 1000, 400)
    found = late_cause(replay(given, decode_blocks=100, link=LinkSpec(0.0, 1e12, 1e12)).records, 1.0)
    assert (found.cause, found.late_requests) == ("decode_memory", 1)
