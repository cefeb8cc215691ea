import json
import time
from dataclasses import replace

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.ui.work.board import Board, Job
from pdexplorer.ui.work.replay import Replay, run_replay
from pdexplorer.ui.work.study import STUDIES, Study, run_study

WANTED = Replay(load_presets()["short_chat_h100"].scenario.model_dump_json(), 60, 1, 1.0, "")


@pytest.fixture(scope="module")
def result():
    return run_replay(WANTED, None, lambda share: None)


def test_both_fleets_see_the_same_requests(result):
    assert set(result.fleets) == {"colocated", "disaggregated"}
    one, other = result.fleets.values()
    assert one.times["arrival_s"] == pytest.approx(other.times["arrival_s"])
    assert len(one.ttft_s) == 60


def test_progress_counts_up_and_the_same_seed_gives_the_same_numbers(result):
    told = []
    again = run_replay(WANTED, None, told.append)
    assert told == sorted(told)
    assert told[0] < 0.1
    assert 0.9 < told[-1] <= 1.0
    assert again.fleets["colocated"].ttft_s == pytest.approx(result.fleets["colocated"].ttft_s)


def test_a_run_that_would_take_too_long_is_one_line_before_anything_runs():
    scenario = load_presets()["rag_h100"].scenario
    workload = scenario.workload.model_copy(update={"rate_per_s": 1e6})
    wanted = replace(
        WANTED, scenario_json=scenario.model_copy(update={"workload": workload}).model_dump_json()
    )
    told = []
    with pytest.raises(ValueError, match=r"^workload\.rate_per_s = 1,000,000: [^\n]+ requests/s$"):
        run_replay(wanted, None, told.append)
    assert told == []


def test_a_run_is_started_once_and_kept():
    board = Board()
    job = board.start(WANTED, None)
    assert board.start(WANTED, None) is job
    for _ in range(240):
        if job.finished:
            break
        time.sleep(0.25)
    assert job.error == ""
    assert job.result is not None
    assert board.find(WANTED) is job


def test_a_cancelled_run_ends_and_can_be_started_anew():
    board = Board()
    job = board.start(WANTED, None)
    job.cancel()
    assert job.finished
    assert board.find(WANTED) is None
    assert board.start(WANTED, None) is not job
    board.find(WANTED).cancel()


def test_progress_never_claims_the_end():
    job = Job()
    job.share, job.left_s, job.told_at = 0.5, 0.001, time.monotonic() - 5
    assert job.progress() == (0.99, 0.0)


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_study_tells_how_far_it_is(name):
    told = []
    run_study(Study(name, WANTED.scenario_json), told.append)
    assert len(told) > 1
    assert told == sorted(told)
    assert 0.0 <= told[0] < 0.5
    assert told[-1] <= 1.0


def test_a_gallery_judges_every_scenario_and_tells_why_one_has_no_answer():
    short, broken = json.loads(WANTED.scenario_json), json.loads(WANTED.scenario_json)
    broken["model"]["name"] = "nothing"
    told = []
    found = run_study(Study("gallery", json.dumps([short, broken])), told.append)
    assert told == [0.0, 0.5]
    assert found[0].answer["verdict"]["decision"] == "stay_colocated"
    assert found[1].answer is None
    assert "nothing" in found[1].problem


def test_a_study_runs_as_a_task_too():
    assert set(STUDIES) == {"pairs", "sizing", "batch", "confidence", "faults", "hybrid", "reuse"}
    table = run_study(Study("sizing", WANTED.scenario_json), lambda share: None)
    assert any(row.chosen for row in table.ratios)
