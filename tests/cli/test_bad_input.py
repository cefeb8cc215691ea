"""Bad input is one line and exit 2, with the key or file, the value and what is allowed."""

from pathlib import Path

import pytest

from tests.cli.cases import POINTS, Shell


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
