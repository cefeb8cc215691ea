"""The memo holds what a design review asks for, whatever the answer is."""

import itertools
import re

import pytest

from pdexplorer.export.benchmark import load_command, servers
from pdexplorer.export.memo import memo_text
from pdexplorer.export.report import report_of
from pdexplorer.export.tables import cost_table
from pdexplorer.scenario.settings import apply_settings

SECTIONS = (
    "Question",
    "Scenario",
    "Both fleets, estimated",
    "Cost of a request in its four parts, estimated",
    "Break-even map, estimated",
    "What would change the answer",
    "What the gain depends on most, estimated",
    "What to benchmark next",
    "How far to trust this",
    "Sources",
)


def test_it_has_every_section_and_the_way_back(report):
    text = memo_text(report, "http://127.0.0.1:8501/chart.svg?view=map")
    assert tuple(re.findall(r"^## (.+)$", text, re.M)) == SECTIONS
    assert report.headline.rstrip(".") in text
    assert f"<{report.link}>" in text
    assert "![Break-even map, estimated](<http://127.0.0.1:8501/chart.svg?view=map>)" in text
    for source in report.evaluation.sources:
        assert source[:20] in text.replace("\\", "")


def test_every_table_is_as_wide_as_its_head(report):
    rows = [re.sub(r"\\\|", "", line) for line in memo_text(report).splitlines()]
    widths = [row.count("|") if row.startswith("|") else 0 for row in rows]
    for before, here in itertools.pairwise(widths):
        assert not (before and here) or before == here


def test_the_four_parts_add_up(report):
    _, rows = cost_table(report)
    for column in (1, 2):
        *parts, total = (float(row[column].split(" ")[0].replace(",", "")) for row in rows)
        assert sum(parts) == pytest.approx(total, rel=0.01)


def test_a_scenario_without_an_answer_still_makes_a_memo(nothing):
    text = memo_text(nothing)
    assert "Cannot judge yet: no published figure" in text
    assert text.count("no published figure for ascend_910b memory_bandwidth") == 1
    assert "neither fleet could be sized" in text


def test_commands_carry_the_design_the_load_and_the_limits(report):
    found = {server.name: server for server in servers(report)}
    assert set(found) == {"colocated", "prefill", "decode"}
    design = report.answer["colocated"]["design"]
    assert f"--tensor-parallel-size {design['tp']}" in found["colocated"].command
    assert f"--max-num-batched-tokens {design['chunk_tokens']}" in found["colocated"].command
    assert "--kv-transfer-config" in found["prefill"].command
    load = load_command(report.scenario)
    assert "--request-rate 8 " in load
    assert "--random-input-len 8000 " in load
    assert "--goodput ttft:2000 tpot:25" in load


@pytest.mark.parametrize(
    ("engine", "start", "split"),
    [
        ("sglang", "python -m sglang.launch_server", "--disaggregation-mode decode"),
        ("trtllm", "trtllm-serve", "--max_batch_size"),
        ("local", "llama-server -m MODEL.gguf", "--parallel"),
    ],
)
def test_commands_are_those_of_the_engine(engine, start, split, preset):
    scenario, _ = apply_settings(preset.scenario, {"engine.profile": engine})
    commands = [server.command for server in servers(report_of(scenario, preset))]
    assert all(command.startswith(start) for command in commands)
    assert split in commands[-1]


def test_a_closed_loop_is_driven_by_requests_in_flight(preset):
    scenario, _ = apply_settings(
        preset.scenario, {"workload.arrivals": "closed_loop", "workload.prefix_hit_fraction": "0.5"}
    )
    load = load_command(scenario)
    assert "--max-concurrency 32" in load
    assert "--random-prefix-len 4000" in load


def test_a_hostile_title_and_reason_stay_text(hostile):
    text = memo_text(hostile)
    for line in text.splitlines():
        if "onerror" in line:
            assert "\\<img" in line
            assert "\\[a\\]" in line
            assert "`" not in line
