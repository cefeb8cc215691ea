import re

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.compare import evaluate
from pdexplorer.texts.catalogue import Texts
from pdexplorer.texts.chinese_reasons import chinese_reason
from pdexplorer.texts.verdict_words import because_and_but
from pdexplorer.verdict import SHOWN

ENGLISH, CHINESE = Texts("en"), Texts("zh")


@pytest.fixture(scope="module")
def evaluations():
    presets = load_presets()
    return {name: evaluate(preset.scenario, with_break_even=False) for name, preset in presets.items()}


def test_at_most_three_reasons_of_one_line_each(evaluations):
    for found in evaluations.values():
        because, but = because_and_but(ENGLISH, found.verdict, found.to_json())
        assert len(because) + len(but) <= SHOWN
        assert all(len(words) < 170 for words in because + but)


def test_what_speaks_for_the_other_side_is_not_given_as_the_reason(evaluations):
    verdict = evaluations["short_chat_h100"].verdict
    assert verdict.decision == "stay_colocated"
    because, _ = because_and_but(ENGLISH, verdict, evaluations["short_chat_h100"].to_json())
    favoured = {reason.text for reason in verdict.reasons if reason.favours == "disaggregated"}
    assert not favoured & set(because)


def test_a_limit_that_decides_needs_no_further_reason(evaluations):
    found = evaluations["rdma_fallback"]
    assert because_and_but(ENGLISH, found.verdict, found.to_json()) == ([], [])


def test_every_reason_is_known_in_chinese(evaluations):
    for found in evaluations.values():
        for reason in found.verdict.reasons:
            assert chinese_reason(reason.key, reason.parameters), reason.key
    for found in evaluations.values():
        because, but = because_and_but(CHINESE, found.verdict, found.to_json())
        for words in because + but:
            assert re.search("[\u4e00-\u9fff]", words)


def test_a_reason_of_another_version_stays_as_it_is():
    assert chinese_reason("phase_of_the_moon", {}) is None
