"""The shell: its JSON, its tables and what it prints for people."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.compare import evaluate
from pdexplorer.texts.catalogue import Texts
from pdexplorer.texts.verdict_words import because_and_but, nearest_flips
from pdexplorer.verdict import told_flips
from tests.cli.cases import EVALUATE_KEYS, FLEET_KEYS, POINTS, VERDICT_KEYS, Shell


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


def test_step_points_without_a_prediction_are_counted(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text(POINTS + "h100_sxm,qwen3_8b,prefill,1,2048,\nascend_910b,qwen3_8b,decode,1,,100\n")
    status, out, err = shell("steptime", str(file))
    assert (status, len(out.splitlines())) == (0, 3)
    assert "1 of 2 rows could not be predicted; the first is row 3: no published figure" in err


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
