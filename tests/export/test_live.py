"""What queries are answered with: the shell's answer, kept for the next one; one line for what is wrong."""

import json

import pytest

from pdexplorer.export.live import MAX_QUERY_CHARACTERS, LiveAnswers, Recent, read_query
from pdexplorer.scenario.link import parse_link
from pdexplorer.study.compare import evaluate
from pdexplorer.study.confidence import with_confidence

ROOT = "http://127.0.0.1:8501/"


@pytest.fixture(scope="module")
def live():
    return LiveAnswers()


def test_the_answer_is_the_shell_s_and_says_what_was_refused(live, presets):
    query = (
        "preset=rag_h100&workload.input_tokens=12000&slo.ttft_s=-1&foo=1&workload.trace_file=/etc/passwd&v=0"
    )
    answer = json.loads(live.evaluate(query, presets, ROOT).body)
    own = with_confidence(evaluate(parse_link(f"?{query}", presets).scenario)).to_json()
    assert {key: answer[key] for key in own} == json.loads(json.dumps(own))
    assert {r["key"] for r in answer["refused"]} == {"slo.ttft_s", "foo", "workload.trace_file"}
    assert len(answer["changed"]) == 1
    assert answer["preset"] == "rag_h100"
    assert answer["scenario"]["workload"]["trace_file"] == ""


def test_a_link_without_a_preset_is_held_to_the_first_one_s_hash(live, presets):
    answer = json.loads(live.evaluate("v=99&hash=zzzz", presets, ROOT).body)
    assert ["version" in line or "zzzz" in line for line in answer["changed"]] == [True, True]


def test_a_memo_says_what_of_its_link_was_not_used(live, presets):
    file = live.memo("preset=rag_h100&workload.input_tokens=-5", presets, ROOT)
    text = file.body.decode()
    assert "> Note: not used: workload.input_tokens = -5" in text
    assert f"<{ROOT}chart.svg?view=map&preset=rag_h100" in text
    assert file.name == "pdexplorer-rag_h100-memo.md"


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        ("preset=nope", "no such preset"),
        ("preset=rag_h100&" + "&".join(f"k{i}=1" for i in range(600)), "allowed are 500 keys"),
        ("x=" + "a" * MAX_QUERY_CHARACTERS, "allowed are 16,000 characters"),
    ],
)
def test_what_cannot_be_answered_is_one_line(query, allowed, presets):
    with pytest.raises(ValueError, match=allowed) as error:
        read_query(query, presets)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_view_there_is_not_is_one_line(live, presets):
    with pytest.raises(ValueError, match="allowed is one of cost, map"):
        live.svg("view=tornado", presets, ROOT)


def test_the_least_recent_is_dropped_first():
    recent, made = Recent(2), []

    def make(key):
        made.append(key)
        return key

    for key in "abacab":
        assert recent.get(key, lambda key=key: make(key)) == key
    assert made == ["a", "b", "c", "b"]
