"""What a replay will take is told before it runs, and what would take too long is refused with what fits."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator import replay
from pdexplorer.simulator.extent import MOST_INSTANCES, MOST_STEPS, checked_steps
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.study.replayed import replayed
from pdexplorer.texts.chinese_sentences import in_chinese
from tests.simulator.fakes import poisson, requests_of
from tests.simulator.test_run import fleets


def scenario_of(**workload):
    return Scenario.model_validate({"workload": workload})


def many(requests, input_tokens):
    return requests_of(np.zeros(requests), input_tokens)


@pytest.mark.parametrize("input_tokens", [500, 40_000])
def test_steps_are_about_what_a_replay_takes(monkeypatch, input_tokens):
    events = []

    def counted(env, done, run=replay.run_calls):
        run(env, done)
        events.append(next(env._eid))

    monkeypatch.setattr(replay, "run_calls", counted)
    given = requests_of(poisson(2.0, 300, 1), input_tokens, 200)
    for fleet, simulate in zip(fleets(), (simulate_colocated, simulate_disaggregated), strict=True):
        told = checked_steps(Scenario(), {"one": fleet}, given)
        simulate(fleet, given)
        assert 0.5 * told < events[-1] < 2.0 * told


def fits(text):
    return float(re.search(r"about ([\d,.]+) (?:requests|in flight)", text)[1].replace(",", ""))


@pytest.mark.parametrize(
    ("workload", "key", "asked"),
    [
        ({"rate_per_s": 3000.0}, "workload.rate_per_s", 3000.0),
        ({"arrivals": "closed_loop", "concurrency": 3000}, "workload.concurrency", 3000.0),
    ],
)
def test_more_instances_than_can_be_replayed_are_refused_with_the_rate_that_fits(workload, key, asked):
    colocated, split = fleets()
    scenario, given = scenario_of(**workload), requests_of([0.0], 100)
    checked_steps(scenario, {"colocated": replace(colocated, instances=MOST_INSTANCES)}, given)
    for name, fleet in (
        ("colocated", replace(colocated, instances=3 * MOST_INSTANCES)),
        ("disaggregated", replace(split, decode_instances=3 * MOST_INSTANCES)),
    ):
        with pytest.raises(ValueError, match=rf"^{key} = {asked:,g}: .*{name} fleet.*[^\n]$") as refused:
            checked_steps(scenario, {name: fleet}, given)
        assert fits(str(refused.value)) == pytest.approx(asked / 3, rel=0.1)
        assert not re.search("[a-z]{4} [a-z]{3}", in_chinese(str(refused.value)))
        with pytest.raises(ValueError, match=key):
            replayed(scenario, fleet, given)


def test_more_steps_than_anybody_waits_for_are_refused_with_the_requests_that_fit():
    colocated, split = fleets()
    given = many(100_000, 2_000_000)
    with pytest.raises(ValueError, match=r"^requests = 100,000: .*colocated fleet.*[^\n]$") as refused:
        checked_steps(Scenario(), {"colocated": colocated}, given)
    fit = int(fits(str(refused.value)))
    taken = checked_steps(Scenario(), {"colocated": colocated}, many(fit, 2_000_000))
    assert taken > 0.8 * MOST_STEPS
    assert "步" in in_chinese(str(refused.value))
    checked_steps(Scenario(), {"disaggregated": split}, given)
