"""The list of published results: every entry is a scenario, and every row is accounted for."""

import csv
import json

import pytest

from pdexplorer.evidence.published import load_left_out, load_published, read_cases
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from tests.shared_data import shared_path

CASES = load_published()

MINIMAL = """
[[case]]
id = "R001"
source = "a paper"
claim = "twice the rate"
published_sign = "pays"
metric = "rate"
kind = "measured"
assumed = "nothing"
[case.settings]
model = { name = "opt_13b" }
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_is_a_scenario_without_refusals(case):
    scenario, refused = apply_settings(Scenario(), case.settings)
    assert refused == ()
    assert scenario == case.scenario
    assert scenario.colocated.accelerator is not None  # else the search could take another card


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_says_how_its_fleets_are_compared(case):
    pools = (case.scenario.colocated, case.scenario.prefill, case.scenario.decode)
    fixed = case.scenario.compare.basis == "fixed_fleets"
    assert all((pool.instances is not None) == fixed for pool in pools)
    assert "compare.basis" in case.settings


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_sign_follows_from_the_ratio(case):
    if case.published_ratio is not None:
        assert (case.published_ratio >= 1.1) == (case.published_sign == "pays")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_only_the_old_engine_runs_unchunked(case):
    chunked = case.scenario.engine.chunking != "unchunked"
    assert (case.scenario.colocated_engine == "vllm_2023") == (not chunked)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_fleets_on_two_engines_say_where_the_source_does(case):
    if case.scenario.colocated_engine != case.scenario.engine.profile:
        assert "section" in case.changed


def test_ids_are_unique_and_both_signs_are_common():
    ids = [case.id for case in CASES]
    assert len(set(ids)) == len(ids)
    for sign in ("pays", "does_not_pay"):
        assert sum(case.published_sign == sign for case in CASES) >= 10


def test_no_row_is_both_compared_and_left_out():
    assert not {case.row for case in CASES} & set(load_left_out())


def test_every_row_of_the_collection_is_compared_or_left_out():
    with shared_path("measured/published_results.csv").open(newline="", encoding="utf-8") as handle:
        rows = {row["id"] for row in csv.DictReader(handle)}
    listed = {case.row for case in CASES} | set(load_left_out())
    assert {row for row in listed if row.startswith("R")} == rows


def test_every_reported_comparison_is_compared_or_left_out():
    lines = shared_path("user_cases.jsonl").read_text(encoding="utf-8").splitlines()
    comparisons = {case["id"] for case in map(json.loads, lines) if case["kind"] == "comparison"}
    listed = {case.row for case in CASES} | set(load_left_out())
    assert {row for row in listed if row.startswith("U")} == comparisons


def test_a_case_starts_from_the_one_it_is_like():
    second = MINIMAL.replace("R001", "R002_b").replace("[case.settings]", 'like = "R001"\n[case.settings]')
    second = second.replace('model = { name = "opt_13b" }', "slo = { ttft_s = 4 }")
    cases = read_cases("own.toml", MINIMAL + second)
    assert cases[1].settings == {"model.name": "opt_13b", "slo.ttft_s": "4"}
    assert cases[1].row == "R002"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"pays"', '"maybe"', "published_sign"),
        ('"measured"', '"guessed"', "kind"),
        ('"R001"', '"row 1"', "id"),
        ('"nothing"', '" "', "assumed"),
        ("opt_13b", "opt_14b", "model.name"),
        ('kind = "measured"', 'kind = "measured"\npublished_ratio = -1', "published_ratio"),
        ('kind = "measured"', 'kind = "measured"\nlike = "R009"', "like"),
        ('kind = "measured"', 'kind = "measured"\nspeed = 1', "speed"),
        ("[[case]]", "[case", "TOML"),
        ("[[case]]", "[[cases]]", "case"),
    ],
)
def test_a_broken_entry_is_told_in_one_line(old, new, told):
    with pytest.raises(ValueError, match=r"own\.toml") as error:
        read_cases("own.toml", MINIMAL.replace(old, new, 1))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_the_same_id_twice_is_an_error():
    with pytest.raises(ValueError, match="listed twice"):
        read_cases("own.toml", MINIMAL + MINIMAL)
