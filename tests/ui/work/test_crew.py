import threading
from contextlib import ExitStack

import numpy as np
import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.compare import evaluate
from pdexplorer.ui.work.crew import Crew
from pdexplorer.ui.work.screen import Judge, Map

SCENARIO = load_presets()["rag_h100"].scenario
JUDGE = Judge(SCENARIO.model_dump_json())
MAP = Map(JUDGE.scenario_json, (1000.0, 8000.0, 32_000.0), (25.0, 100.0, 400.0))


@pytest.fixture(scope="module")
def crew():
    return Crew(1, kept=4)


def last(crew, question):
    with crew.asked(question) as work:
        return work.last.result(60)


def test_the_answer_comes_before_what_would_flip_it(crew):
    with crew.asked(JUDGE) as work:
        decided, flips = work.first.result(60), work.last.result(60)
    assert decided.to_json() == evaluate(SCENARIO, with_break_even=False).to_json()
    assert flips == evaluate(SCENARIO).verdict.break_even


def test_the_map_is_the_one_worked_out_here(crew):
    found, here = last(crew, MAP), next(MAP.steps())
    assert np.array_equal(found.gain, here.gain, equal_nan=True)
    assert found.winner.tolist() == here.winner.tolist()


def test_what_has_been_answered_is_kept_for_all_and_the_oldest_forgotten():
    crew = Crew(1, kept=1)
    with crew.asked(MAP) as work, crew.asked(MAP) as same:
        assert same is work
        assert same.last.result(60).gain.shape == (3, 3)
    assert last(crew, MAP) is work.last.result()
    last(crew, Map(JUDGE.scenario_json, (1000.0,), (25.0,)))
    assert last(crew, MAP) is not work.last.result()


def test_what_is_known_is_told_without_asking(crew):
    other = Map(JUDGE.scenario_json, (2000.0,), (100.0,))
    assert crew.known(other) is None
    assert last(crew, other) is crew.known(other)
    with pytest.raises(ValueError, match="Invalid JSON"):
        last(crew, Judge("{?"))
    assert crew.known(Judge("{?")) is None


def test_what_cannot_be_answered_is_said_and_the_next_question_is_answered(crew):
    with pytest.raises(ValueError, match="Invalid JSON"), crew.asked(Judge("{}?")) as work:
        work.first.result(60)
    with pytest.raises(ValueError, match="Invalid JSON"):
        last(crew, Map("{}?", (1.0,), (1.0,)))
    assert last(crew, MAP).gain.shape == (3, 3)


def test_a_question_left_before_its_turn_is_never_worked_out():
    crew = Crew(1, kept=4)
    with ExitStack() as held:
        ahead = held.enter_context(crew.asked(JUDGE))
        with crew.asked(MAP) as left, crew.asked(MAP):
            pass
        assert left.last.cancelled()
        with crew.asked(MAP) as anew:
            assert anew is not left
            assert anew.last.result(60).gain.shape == (3, 3)
        assert ahead.last.done()


@pytest.mark.parametrize("after_first", [False, True])
def test_an_answer_whose_process_is_ended_is_worked_out_by_another(after_first):
    crew = Crew(1, kept=4)
    last(crew, Map(JUDGE.scenario_json, (1000.0,), (25.0,)))
    process = crew._queue.submit(lambda: crew._own.process).result(10)
    with crew.asked(JUDGE) as work:
        if after_first:
            work.first.result(60)
        process.kill()
        assert work.last.result(60) == evaluate(SCENARIO).verdict.break_even


def test_where_no_process_can_be_started_answers_are_worked_out_here(monkeypatch):
    def refused(*_):
        raise OSError("no more processes")

    monkeypatch.setattr("pdexplorer.ui.work.crew.started", refused)
    assert last(Crew(1, kept=4), MAP).gain.shape == (3, 3)


def test_two_questions_at_once_are_answered_by_two_processes():
    crew, both = Crew(2, kept=4), threading.Barrier(2)
    with crew.asked(JUDGE) as one, crew.asked(MAP) as other:
        one.last.result(60), other.last.result(60)

    def process(_):
        both.wait(10)
        return crew._own.process.pid

    assert len(set(crew._queue.map(process, range(2)))) == 2
