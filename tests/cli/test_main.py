"""The shell: its JSON, its tables, and bad input as one line and exit 2."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.compare import evaluate
from pdexplorer.texts.catalogue import Texts
from pdexplorer.texts.verdict_words import because_and_but, nearest_flips
from pdexplorer.verdict import told_flips
from tests.cli.cases import EVALUATE_KEYS, FLEET_KEYS, VERDICT_KEYS, Shell


def answer(shell: Shell, *arguments: str) -> dict[str, Any]:
    status, out, _ = shell(*arguments, "--json")
    assert status == 0
    assert not re.search(r"\b(NaN|Infinity)\b", out)
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def test_evaluate_has_the_promised_keys(shell: Shell) -> None:
    found = answer(shell, "evaluate", "rag_h100")
    assert set(found) >= EVALUATE_KEYS
    assert found["hybrid"] is None
    assert set(found["verdict"]) >= VERDICT_KEYS
    for fleet in ("colocated", "disaggregated"):
        assert set(found[fleet]) >= FLEET_KEYS
    assert found["candidates"]


def test_a_name_a_file_and_a_link_ask_the_same(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    source = Path(__file__).parents[2] / "presets" / "short_chat_h100.toml"
    file.write_text(source.read_text().replace("order = 20", "") + "[network]\nlink = 'roce_200'\n")
    by_file = answer(shell, "evaluate", str(file))
    by_name = answer(shell, "evaluate", "short_chat_h100", "--set", "network.link=roce_200")
    by_link = answer(shell, "evaluate", "http://host/?preset=short_chat_h100&network.link=roce_200")
    assert by_file == by_name == by_link


def test_people_get_the_verdict_first(shell: Shell) -> None:
    status, out, err = shell("evaluate", "short_chat_h100")
    assert (status, err) == (0, "")
    assert out.splitlines()[2].startswith("Stay colocated")
    for words in ("because", "flips  ", "estimated", "$/M tokens", "kv transfer", "rests on"):
        assert words in out


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["money.usd_per_hour.h100_sxm=-1"], "= -1: allowed is a number above 0 up to 100,000 $/h, or none"),
        (
            ["money.usd_per_hour.abacus=1"],
            "no accelerator abacus; pdexplorer catalog accelerators lists them",
        ),
        (["overrides.h100_sxm.foo=3"], "overrides.h100_sxm.foo = 3 is not a figure of h100_sxm"),
        (
            ["foo=1", "bar=2"],
            "no such key; bar = 2: no such key; pdexplorer evaluate PRESET --json lists all keys",
        ),
        (["workload.rate_per_s=-1", "slo.ttft_s=0"], "/s; slo.ttft_s = 0: allowed is a number above 0"),
        (["a=1", "b=1", "c=1", "d=1"], "(and 1 more: d)"),
    ],
)
def test_refused_settings_say_each_why_and_where_to_look(
    settings: list[str], says: str, shell: Shell
) -> None:
    status, _, err = shell("evaluate", "rag_h100", "--set", *settings)
    assert status == 2
    (line,) = err.splitlines()
    assert says in line
    assert line.endswith(says) or "money.usd_per_hour.h100_sxm" not in line


def test_a_figure_nobody_published_is_asked_for_once(shell: Shell) -> None:
    out = shell("evaluate", "ascend_910b")[1]
    assert out.splitlines()[2].startswith("Cannot judge yet: no published figure for ascend_910b")
    assert out.count("overrides.ascend_910b.memory_bandwidth_gb_per_s") == 1


def test_shell_and_page_tell_the_same_flips_and_reasons(shell: Shell) -> None:
    out = " ".join(shell("evaluate", "rag_h100")[1].split())
    evaluation = evaluate(load_presets()["rag_h100"].scenario)
    found, texts = evaluation.verdict, Texts("en")
    because, but = because_and_but(texts, found, evaluation.to_json())
    assert all(reason.rstrip(".") in out for reason in because + but)
    assert [out.index(flip.text) for flip in told_flips(found)] == sorted(
        out.index(flip.text) for flip in told_flips(found)
    )
    ways = " ".join(ways for _, ways in nearest_flips(texts, {"verdict": found.to_json()}, {}))
    assert ways.count(" or ") == out.count("stay colocated ") - 1 == len(told_flips(found)) - 1


def test_a_file_is_called_by_its_title(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "Our night shift"\n[workload]\nrate_per_s = 2\n')
    assert shell("evaluate", str(file))[1].splitlines()[0] == "Our night shift"
    memo = tmp_path / "memo.md"
    assert shell("export", str(file), "--memo", str(memo))[0] == 0
    assert "Our night shift" in memo.read_text()


def test_a_missing_figure_is_named_and_can_be_given(shell: Shell) -> None:
    key = "overrides.ascend_910b.memory_bandwidth_gb_per_s"
    status, out, _ = shell("evaluate", "ascend_910b")
    assert status == 0
    assert key in " ".join(out.split())
    given = answer(
        shell, "evaluate", "ascend_910b", "--set", f"{key}=1600", "overrides.ascend_910b.tdp_w=310"
    )
    assert given["scenario"]["overrides"]["ascend_910b"]["memory_bandwidth_gb_per_s"] == 1600


def test_simulate_accounts_for_every_request(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "requests.csv"
    arguments = ("simulate", "short_chat_h100", "--requests", "200", "--per-request", str(out))
    found = answer(shell, *arguments)
    for fleet in ("colocated", "disaggregated"):
        assert found[fleet]["requests"] == found[fleet]["completed"] == 200
        assert set(found[fleet]) >= FLEET_KEYS | {"simulated_s"}
    assert len(out.read_text().splitlines()) == 401
    assert answer(shell, *arguments) == found


def test_simulate_replays_a_trace(shell: Shell, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = "".join(f"2023-11-16 18:00:{i:02d}.0000000,{500 + i},{20 + i}\n" for i in range(40))
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows)
    found = answer(shell, "simulate", "rag_h100", "--trace", str(trace), "--fleet", "colocated")
    assert found["colocated"]["completed"] == 40
    assert "disaggregated" not in found
    windowed = answer(
        shell, "simulate", "rag_h100", "--trace", str(trace), "--fleet", "colocated", "--window", "10:20"
    )
    assert windowed["colocated"]["requests"] == 10


def test_presets_and_catalog_are_listed(shell: Shell) -> None:
    assert "rag_h100" in shell("presets")[1]
    assert "accelerators" in shell("catalog")[1]
    for kind, entry in (("accelerators", "h20_96"), ("models", "deepseek_v3"), ("networks", "tcp_fallback")):
        assert entry in shell("catalog", kind)[1]
        assert entry in json.loads(shell("catalog", kind, "--json")[1])


def test_steptime_adds_its_columns(shell: Shell, tmp_path: Path) -> None:
    points, out = tmp_path / "points.csv", tmp_path / "out.csv"
    points.write_text(
        "system,model,phase,batch,new_tokens,context_tokens\nh100_sxm,qwen3_8b,prefill,1,2048,2048\n"
    )
    assert shell("steptime", str(points), "--overhead", "engine", "--out", str(out))[0] == 0
    header, row = out.read_text().splitlines()
    assert header.split(",")[-3:-1] == ["predicted_ms", "overhead"]
    assert ",engine," in row


POINTS = "system,model,phase,batch,new_tokens,context_tokens\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            POINTS + "h100_sxm,qwen3_8b,prefill,1,2048,\n\nh100_sxm,qwen3_8b,prefill,x,1,\n",
            "row 4: batch = 'x'",
        ),
        (POINTS + "h100_sxm,qwen3_8b,prefill,1,2048,0,7\n", "row 2: 7 cells; the header has 6"),
        (POINTS + "h100_sxm,qwen3_8b,prefill,1,2048," + "1" * 200_000, "row 2: not readable as CSV"),
        (POINTS[:-1] + "x" * 200_000, "row 1: not readable as CSV"),
        ("", "expected"),
    ],
)
def test_broken_step_points_are_told_by_file_and_line(
    shell: Shell, tmp_path: Path, content: str, says: str
) -> None:
    file = tmp_path / "points.csv"
    file.write_text(content)
    status, out, err = shell("steptime", str(file))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert "points.csv" in err
    assert len(err) < 600


def test_step_points_without_a_prediction_are_counted(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text(POINTS + "h100_sxm,qwen3_8b,prefill,1,2048,\nascend_910b,qwen3_8b,decode,1,,100\n")
    status, out, err = shell("steptime", str(file))
    assert (status, len(out.splitlines())) == (0, 3)
    assert "1 of 2 rows could not be predicted; the first is row 3: no published figure" in err


@pytest.mark.parametrize(
    "arguments",
    [
        (
            "simulate",
            "short_chat_h100",
            "--requests",
            "2",
            "--fleet",
            "colocated",
            "--per-request",
            "/dev/full",
        ),
        ("export", "short_chat_h100", "--memo", "/dev/full"),
        ("steptime", "{folder}/points.csv", "--out", "/dev/full"),
        ("accuracy", "{reference}", "--out", "/dev/full"),
        ("catalog", "fit", "{reference}", "--out", "/dev/full"),
    ],
)
def test_a_full_disk_is_told_with_the_file(shell: Shell, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "points.csv").write_text(POINTS + "h100_sxm,qwen3_8b,prefill,1,2048,\n")
    reference = Path(__file__).parents[1] / "reference" / "step_times.csv"
    status, _, err = shell(*(a.format(folder=tmp_path, reference=reference) for a in arguments))
    assert status == 2
    assert err == "pdexplorer: /dev/full: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("evaluate",), "SCENARIO"),
        (("evaluate", "rag_h10"), "rag_h100"),
        (("evaluate", ""), "SCENARIO is empty"),
        (("evaluate", " "), "SCENARIO is empty"),
        (("evaluate", "rag_h100", "--set", "slo.ttft=1"), "slo.ttft_s"),
        (("evaluate", "rag_h100", "--set", "slo.ttft_s=-1"), "above 0"),
        (("evaluate", "rag_h100", "--set", "slo.ttft_s"), "key=value"),
        (("evaluate", "rag_h100", "--set", "model.name=gpt5"), "model.name = gpt5"),
        (("evaluate", "rag_h100", "--set", "model.name=gpt5"), "pdexplorer catalog models lists them"),
        (("evaluate", "rag_h100", "--set", "network.link=x"), "pdexplorer catalog networks lists them"),
        (("evaluate", "rag_h100", "--set", "decode.accelerator=x"), "pdexplorer catalog accelerators lists"),
        (("evaluate", "?preset=rag_h100&slo.tpot_ms=fast"), "slo.tpot_ms = fast"),
        (("evaluate", "?preset=../x"), "preset = ../x"),
        (("evaluate", "rag_h100", "--set", "slo.ttft_s=1", "slo.ttft_s=2"), "slo.ttft_s is set before, to 1"),
        (("evaluate", "rag_h100", "--set", "slo.ttft_s=1", "--set", " slo.ttft_s=1"), "allowed is once"),
        (("evaluate", "{folder}"), "is a folder"),
        (("evaluate", "{folder}/none.toml"), "cannot be read"),
        (("evaluate", "{folder}/empty.toml"), "is empty"),
        (("evaluate", "{folder}/broken.toml"), "not valid TOML"),
        (("evaluate", "{folder}/broken.csv"), "not valid TOML"),
        (("evaluate", "a\0b"), "SCENARIO"),
        (("simulate", "rag_h100", "--requests", "0"), "--requests 0"),
        (("simulate", "rag_h100", "--rate-scale", "nan"), "--rate-scale nan"),
        (("simulate", "rag_h100", "--seed", "-1"), "--seed -1"),
        (("simulate", "rag_h100", "--fleet", "all"), "choose from"),
        (("simulate", "rag_h100", "--window", "1:2"), "only with --trace"),
        (("simulate", "rag_h100", "--trace", "{folder}/broken.csv", "--window", "9:2"), "START:END"),
        (("simulate", "rag_h100", "--trace", "{folder}/broken.csv"), "-5"),
        (("simulate", "rag_h100", "--trace", "{folder}/none.csv"), "none.csv"),
        (("simulate", "rag_h100", "--trace", "{folder}/empty.toml"), "empty"),
        (("simulate", "short_chat_h100", "--requests", "2", "--per-request", "{folder}"), "irectory"),
        (("simulate", "short_chat_h100", "--requests", "2", "--per-request", ""), "--per-request (empty)"),
        (("export", "short_chat_h100", "--memo", ""), "--memo (empty)"),
        (("steptime", ""), "is empty"),
        (("steptime", "{folder}"), "is a folder"),
        (("steptime", "{folder}/none.csv"), "none.csv"),
        (("steptime", "{folder}/empty.toml"), "empty"),
        (("steptime", "/dev/zero"), "device"),
        (("accuracy", ""), "is empty"),
        (("accuracy", "{folder}/long.csv"), "row 2: not readable as CSV"),
        (("catalog", "fit", "{folder}/long.csv"), "row 2: not readable as CSV"),
        (("accuracy", "{folder}/long.csv", "--out", ""), "long.csv"),
        (("accuracy", "{folder}/broken.csv", "--out", ""), "--out (empty)"),
        (("simulate", "rag_h100", "--requests", "1_0"), "--requests 1_0"),
        (("simulate", "rag_h100", "--set", "workload.rate_per_s=1e6"), "workload.rate_per_s = 1,000,000: "),
        (
            ("simulate", "rag_h100", "--set", "workload.output_tokens=1e5", "workload.rate_per_s=1000"),
            "requests/s",
        ),
        (("simulate", "rag_h100", "--seed", "\u0663"), "--seed"),
        (("simulate", "rag_h100", "--rate-scale", "1_0"), "--rate-scale 1_0"),
        (("app", "--port", "x"), "--port x"),
        (("app", "--port", "\u0668\u0665\u0660\u0661"), "--port"),
        (("dance",), "dance"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    shell: Shell, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "broken.toml").write_text("[slo")
    (tmp_path / "broken.csv").write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,-5,20\n"
    )
    (tmp_path / "long.csv").write_text(POINTS + "h100_sxm,qwen3_8b,prefill,1,2048," + "1" * 200_000)
    status, out, err = shell(*(argument.format(folder=tmp_path) for argument in arguments))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert says in err
    assert len(err) < 600


def test_a_team_preset_that_is_broken_does_not_stop_the_shell(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("title = 3")
    done = subprocess.run(
        [sys.executable, "-m", "pdexplorer", "presets"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PDEXPLORER_PRESETS": str(tmp_path)},
    )
    assert done.returncode == 0
    assert "bad.toml" in done.stderr
    assert "rag_h100" in done.stdout
