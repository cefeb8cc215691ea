import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.compare import evaluate
from pdexplorer.ui.answer import answered
from pdexplorer.ui.state import Asked

PRESETS = load_presets()


@pytest.mark.parametrize("name", ["rag_h100", "ascend_910b", "offline_labelling"])
def test_a_complete_answer_is_the_evaluation_with_its_break_evens(name):
    answer = answered(Asked(PRESETS[name], PRESETS[name].scenario))
    assert answer.json["verdict"]["break_even"] == []
    complete, here = answer.complete(), evaluate(PRESETS[name].scenario)
    assert complete.json == here.to_json()
    assert complete.evaluation.to_json() == here.to_json()


def test_a_question_without_an_answer_is_refused_in_one_line():
    scenario = PRESETS["rag_h100"].scenario
    unknown = scenario.model_copy(update={"model": scenario.model.model_copy(update={"name": "nobody"})})
    with pytest.raises(ValueError, match=r"^model.name = 'nobody' is not one of .*$"):
        answered(Asked(PRESETS["rag_h100"], unknown))
