"""Traces in the shell: what is taken from them, what is said of them, and files that are none."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cases import Shell

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"


@pytest.fixture
def azure(tmp_path: Path) -> str:
    file = tmp_path / "azure.csv"
    rows = (f"2023-11-16 18:00:{second:02d}.0000000,{500 + second},{20 + second}\n" for second in range(41))
    file.write_text(AZURE + "".join(rows))
    return str(file)


def answer(shell: Shell, *arguments: str) -> dict[str, Any]:
    status, out, err = shell(*arguments, "--json")
    assert (status, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_evaluate_takes_the_rate_of_the_trace_it_names(shell: Shell, azure: str) -> None:
    found = answer(
        shell, "evaluate", "rag_h100", "--set", f"workload.trace_file={azure}", "workload.arrivals=trace"
    )
    assert found["scenario"]["workload"]["rate_per_s"] == pytest.approx(1.0)
    assert found["scenario"]["workload"]["input_tokens"] == 8000
    assert found["trace"]["requests"] == 41
    notes = "; ".join(found["trace"]["notes"])
    assert "the trace's mean rate of 1/s" in notes
    assert "prompt lengths are the scenario's own, 8,000 tokens" in notes


def test_evaluate_takes_the_lengths_where_it_is_told_to(shell: Shell, azure: str) -> None:
    settings = ("workload.input_distribution=trace", "workload.output_distribution=trace")
    found = answer(shell, "evaluate", "rag_h100", "--set", f"workload.trace_file={azure}", *settings)
    assert found["scenario"]["workload"]["input_tokens"] == 520
    assert found["scenario"]["workload"]["rate_per_s"] == 8
    status, out, _ = shell("evaluate", "rag_h100", "--set", f"workload.trace_file={azure}")
    assert status == 0
    assert "trace_file is not read" in out


def test_prefix_hits_that_are_not_the_traces_are_said(shell: Shell, azure: str, tmp_path: Path) -> None:
    arguments = ("simulate", "rag_h100", "--trace", azure, "--fleet", "colocated")
    says = "the trace has no prefix data: the scenario's prefix hit of 50% is applied"
    out = shell(*arguments, "--set", "workload.prefix_hit_fraction=0.5")[1]
    assert says in " ".join(out.split())
    memo = tmp_path / "memo.md"
    settings = ("workload.arrivals=trace", "workload.prefix_hit_fraction=0.5")
    shell("export", "rag_h100", "--set", f"workload.trace_file={azure}", *settings, "--memo", str(memo))
    assert "has no prefix data" in memo.read_text()


def test_a_window_has_its_own_rate_and_the_lengths_of_the_file(shell: Shell, azure: str) -> None:
    arguments = ("simulate", "rag_h100", "--trace", azure, "--window", "10:20", "--fleet", "colocated")
    notes = answer(shell, *arguments)["trace"]["notes"]
    assert "fleets are sized for the trace's mean rate of 1/s" in notes
    assert "prompt lengths are the trace's, 514 tokens on average" in notes
    assert "fleets are sized for the lengths of the whole file, 520 in and 40 out on average" in notes


def test_rows_left_out_are_counted(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "burst.csv"
    rows = (f"{5 * second},m,400,{0 if second in (3, 7) else 20},420,log\n" for second in range(20))
    file.write_text(BURST + "".join(rows))
    arguments = ("simulate", "rag_h100", "--trace", str(file), "--fleet", "colocated")
    found = answer(shell, *arguments)
    assert (found["trace"]["requests"], found["trace"]["dropped_rows"]) == (18, 2)
    out = " ".join(shell(*arguments)[1].split())
    assert "2 rows of the file left out: a response of 0 tokens" in out


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("/etc/passwd", "no known format"),
        ("{folder}/one.csv", "at one moment"),
        ("{folder}/lengths.csv", "lengths only"),
        ("{folder}/large.csv", "at most 200 MB"),
        ("{folder}/long.csv", "not readable as CSV"),
        ("{folder}", "is a folder"),
        ("/dev/zero", "is a device"),
        ("{folder}/none.csv", "no such file"),
    ],
)
def test_evaluate_refuses_what_is_no_trace(shell: Shell, tmp_path: Path, file: str, says: str) -> None:
    (tmp_path / "one.csv").write_text(AZURE + "2023-11-16 18:00:00.0,3,4\n")
    (tmp_path / "lengths.csv").write_text("num_prefill_tokens,num_decode_tokens\n5,6\n")
    (tmp_path / "long.csv").write_text(AZURE + "2023-11-16 18:00:00.0,3," + "4" * 200_000)
    with (tmp_path / "large.csv").open("wb") as large:
        large.truncate(1_000_000_000)  # sparse: takes no room
    name = file.format(folder=tmp_path)
    status, out, err = shell(
        "evaluate", "rag_h100", "--set", "workload.arrivals=trace", f"workload.trace_file={name}"
    )
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert says in err


def test_an_empty_name_is_said_to_be_empty(shell: Shell) -> None:
    status, out, err = shell("simulate", "rag_h100", "--trace", "")
    assert (status, out) == (2, "")
    assert "--trace is empty" in err
