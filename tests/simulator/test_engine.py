"""One colocated instance by hand: when tokens come, what policies do, what KV allows."""

import numpy as np
import pytest

from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec
from tests.simulator.fakes import FakeTimer, requests_of

PLAIN = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-4)


def run(given, options=None, timer=PLAIN, **spec):
    defaults = {"instances": 1, "kv_blocks": 10_000, "block_tokens": 16}
    return Colocated(EngineSpec(timer, **{**defaults, **spec}), given, options or SimulationOptions()).run()


def test_one_request_alone():
    records = run(requests_of([1.0], 100, 5)).records
    assert records["prefill_start_s"][0] == pytest.approx(1.0)
    assert records["first_token_s"][0] == pytest.approx(1.0 + 0.01 + 0.01)
    assert records["finish_s"][0] == pytest.approx(1.02 + 4 * 0.01)


def test_context_makes_each_iteration_longer():
    timer = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=1e-4, token_s=0.0)
    records = run(requests_of([0.0], 100, 4), timer=timer).records
    assert records["finish_s"][0] == pytest.approx(0.01 + 3 * 0.01 + 1e-4 * (101 + 102 + 103))


def test_cached_tokens_are_not_computed():
    records = run(requests_of([0.0], 100, 1, cached_tokens=60)).records
    assert records["first_token_s"][0] == pytest.approx(0.01 + 40 * 1e-4)


def test_short_prompts_share_a_step():
    records = run(requests_of([0.0, 0.0, 0.0], 100, 1), chunk_tokens=1000).records
    assert records["first_token_s"] == pytest.approx([0.04] * 3)


def test_a_long_prompt_takes_several_chunks():
    records = run(requests_of([0.0], 250, 1), chunk_tokens=100).records
    assert records["first_token_s"][0] == pytest.approx(3 * 0.01 + 250e-4)


def test_chunked_prefill_lets_decodes_go_on_and_unchunked_stalls_them():
    given = requests_of([0.0, 0.05], [10, 5000], [40, 1])
    gap = {policy: run(given, policy=policy, chunk_tokens=200) for policy in ("chunked", "unchunked")}
    assert gap["chunked"].itl_bin_s.max() == pytest.approx(0.01 + 199e-4, abs=2e-4)
    assert gap["unchunked"].itl_bin_s.max() == pytest.approx(0.01 + 0.5 + 0.01, abs=2e-4)
    assert gap["unchunked"].records["first_token_s"][1] < gap["chunked"].records["first_token_s"][1]


def test_prefill_first_chunks_but_decodes_wait():
    given = requests_of([0.0, 0.05], [10, 5000], [40, 1])
    result = run(given, policy="prefill_first", chunk_tokens=1000)
    assert result.itl_bin_s.max() == pytest.approx(5 * 0.01 + 0.5 + 0.01, abs=2e-4)


def test_max_batch_makes_the_next_wait():
    records = run(requests_of([0.0, 0.0], 16, 100), max_batch=1).records
    assert records["prefill_start_s"][1] == pytest.approx(records["finish_s"][0])


def test_kv_admission_waits_for_blocks():
    records = run(requests_of([0.0, 0.0], 100, 5), kv_blocks=8, max_batch=8).records
    assert records["prefill_start_s"][1] == pytest.approx(records["finish_s"][0])
    assert records["preemptions"].tolist() == [0, 0]


def test_preempted_by_recompute_when_blocks_run_out():
    result = run(requests_of([0.0, 0.0], 64, 64), kv_blocks=12, chunk_tokens=1000)
    assert result.records["preemptions"].tolist() == [0, 1]
    assert result.completed == 2
    assert result.itl_gaps.sum() == 2 * 63


def test_what_can_never_fit_is_refused():
    result = run(requests_of([0.0, 0.0, 0.0], [160, 161, 100], [1, 1, 61]), kv_blocks=10)
    assert result.records["status"].tolist() == ["completed", "refused", "completed"]
    assert np.isnan(result.records["finish_s"][1])
    assert run(requests_of([0.0], 100, 62), kv_blocks=10).records["status"].tolist() == ["refused"]


def test_horizon_leaves_the_rest_unfinished():
    result = run(requests_of([0.0, 0.0, 9.0], 10, [5, 500, 5]), SimulationOptions(horizon_s=1.0))
    assert result.records["status"].tolist() == ["completed", "unfinished", "unfinished"]
    assert result.simulated_s == pytest.approx(1.0)
    usage = result.pools["colocated"]
    assert usage.prefill_busy_s.sum() + usage.decode_busy_s.sum() + usage.idle_s.sum() == pytest.approx(1.0)


def test_a_very_long_decode_holds_its_slot():
    given = requests_of([0.0, *np.arange(20) * 0.5], [16] * 21, [5000] + [2] * 20)
    records = run(given, max_batch=2).records
    assert records["finish_s"][0] == pytest.approx(records["finish_s"].max())
    assert (records["first_token_s"][1:] - records["arrival_s"][1:] < 0.1).all()


def test_no_requests():
    result = run(requests_of([]))
    assert result.requests == 0
    assert result.simulated_s == 0.0


def test_whole_prompts_are_not_split_and_decodes_go_on():
    split = run(requests_of([0.0, 0.0], 150, 40), policy="chunked", chunk_tokens=200).records
    whole = run(requests_of([0.0, 0.0], 150, 40), policy="whole", chunk_tokens=200)
    assert split["first_token_s"][0] == pytest.approx(0.01 + 200e-4)
    assert whole.records["first_token_s"][0] == pytest.approx(0.01 + 150e-4)
    assert whole.records["first_token_s"][1] == pytest.approx(2 * 0.01 + 300e-4)
    assert whole.itl_bin_s.max() == pytest.approx(0.01 + 150e-4, abs=2e-4)


def test_whole_prompts_wait_for_kv_for_their_whole_answers():
    given = requests_of([0.0, 0.0], 100, 100)  # 13 blocks each at the end, 7 for the prompt
    taken = run(given, policy="chunked", kv_blocks=20).records
    kept = run(given, policy="whole", kv_blocks=20).records
    assert taken["preemptions"].sum() > 0
    assert kept["preemptions"].sum() == 0
    assert kept["prefill_start_s"][1] == pytest.approx(kept["finish_s"][0])


def test_steps_chosen_ahead_take_a_prompt_one_step_later():
    given = requests_of([0.0, 0.045], [10, 100], [40, 1])  # it comes in the step from 41 to 51 ms
    first = {
        ahead: run(given, SimulationOptions(scheduled_ahead=ahead), scheduled_ahead=ahead).records
        for ahead in (False, True)
    }
    assert first[False]["first_token_s"][1] == pytest.approx(0.051 + 0.01 + 100e-4)
    assert first[True]["first_token_s"][1] == pytest.approx(0.061 + 0.01 + 100e-4)


def test_equal_requests_of_a_closed_loop_stay_one_step_apart_for_ever():
    given = requests_of([0.0] * 80, 1000, 50)
    options = SimulationOptions(closed_loop_concurrency=8)
    records = run(given, options, policy="whole", chunk_tokens=1500, scheduled_ahead=True).records
    ttft_s = (records["first_token_s"] - records["arrival_s"])[8:]
    alone_s = 0.01 + 1000e-4
    assert ttft_s.mean() == pytest.approx(3 * alone_s, rel=0.15)  # two others' prompts and its own


def test_prompts_wait_for_company_but_not_for_ever():
    given = requests_of([0.0, 0.045, 0.2], [10, 100, 100], [100, 1, 1])
    together = run(given, policy="whole", company=2, company_steps=60).records
    assert together["prefill_start_s"][1] == together["prefill_start_s"][2] > 0.2
    patient = run(given, policy="whole", company=2, company_steps=5).records
    assert patient["prefill_start_s"][1] == pytest.approx(0.051 + 5 * 0.01)
    assert patient["prefill_start_s"][2] > patient["first_token_s"][1]
