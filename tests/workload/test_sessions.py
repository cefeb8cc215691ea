"""Sessions whose prompts grow, and mixes that shift."""

import numpy as np
import pytest

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.prefix import leading_hits
from pdexplorer.workload.sessions import Sessions, session_requests
from pdexplorer.workload.shift import shifting_requests


def test_each_turn_contains_the_turns_before():
    given = session_requests(Sessions(1.0, turns=3, system_tokens=256), 20, 1, block_tokens=32)
    assert len(given) == 60
    assert (np.diff(given.arrival_s) >= 0).all()
    by_session = {}
    for prompt, context, tokens in zip(
        given.block_hashes, given.context_hashes, given.input_tokens, strict=True
    ):
        assert len(prompt) == tokens // 32
        assert context[: len(prompt)] == prompt
        assert prompt[:8] == tuple(range(8))
        before = by_session.get(prompt[8:9], ())
        assert prompt[: len(before)] == before
        if len(prompt) > 8:
            by_session[prompt[8:9]] = context
    assert leading_hits(given.block_hashes)[0] == 0
    assert min(leading_hits(given.block_hashes)[1:]) >= 8


def test_the_same_seed_the_same_sessions():
    one, other, third = (session_requests(Sessions(1.0), 10, seed) for seed in (1, 1, 2))
    assert one.block_hashes == other.block_hashes
    assert (one.arrival_s == other.arrival_s).all()
    assert (one.arrival_s != third.arrival_s).any()


def test_one_mix_after_the_other():
    day, night = Workload(rate_per_s=20, input_tokens=4000), Workload(rate_per_s=5, input_tokens=500)
    given = shifting_requests([(day, 100.0), (night, 200.0), (day, 50.0)], 1)
    at_night = (given.arrival_s >= 100) & (given.arrival_s < 300)
    assert at_night.sum() == pytest.approx(1000, rel=0.15)
    assert (~at_night).sum() == pytest.approx(3000, rel=0.1)
    assert given.input_tokens[at_night].mean() == pytest.approx(500, rel=0.15)
    assert (np.diff(given.arrival_s) >= 0).all()
    with pytest.raises(ValueError, match="poisson or gamma"):
        shifting_requests([(Workload(arrivals="closed_loop"), 10.0)], 1)
