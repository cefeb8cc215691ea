import time

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


def test_a_study_runs_as_a_task_too():
    assert set(STUDIES) == {"pairs", "sizing", "batch", "confidence", "faults", "hybrid", "reuse"}
    table = run_study(Study("sizing", WANTED.scenario_json), lambda share: None)
    assert any(row.chosen for row in table.ratios)
