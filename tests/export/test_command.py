"""`pdexplorer export`: every format, from a preset, a link and a file; bad input is one line and exit 2."""

import pytest

from pdexplorer.cli.main import main
from pdexplorer.scenario.link import parse_link


def test_all_formats_at_once(tmp_path, capsys):
    files = {name: tmp_path / f"out.{name}" for name in ("memo", "html", "svg", "png")}
    flags = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    settings = ["--view", "cost", "--set", "workload.input_tokens=12000"]
    assert main(["export", "rag_h100", *flags, *settings]) == 0
    assert files["memo"].read_text().startswith("# Does splitting prefill and decode pay? RAG on H100")
    assert "workload.input_tokens = 12000" in files["memo"].read_text()
    assert files["html"].read_text().startswith("<!doctype html>")
    assert files["svg"].read_bytes().startswith(b"<svg")
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_file_keeps_its_name_and_its_link_opens_the_same(tmp_path, presets):
    (tmp_path / "mine.toml").write_text("[workload]\nrate_per_s = 12\n[slo]\nttft_s = 1.5\n")
    out = tmp_path / "memo.md"
    assert (
        main(["export", str(tmp_path / "mine.toml"), "--memo", str(out), "--address", "https://pd.example"])
        == 0
    )
    text = out.read_text()
    assert text.startswith("# Does splitting prefill and decode pay? mine.toml\n")
    assert str(tmp_path) not in text
    link = text.rsplit("<", 1)[1].partition(">")[0]
    scenario = parse_link(link, presets).scenario
    assert link.startswith("https://pd.example/?")
    assert (scenario.workload.rate_per_s, scenario.slo.ttft_s, scenario.slo.tpot_ms) == (12, 1.5, 50)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rag_h100"], "export needs at least one of --memo FILE"),
        (["rag_h100", "--svg", "/no/such/folder/x.svg"], "allowed is a file in an existing directory"),
        (["rag_h100", "--memo", "x.md", "--address", "javascript:1"], "http:// or https://"),
        (["ascend_910b", "--svg", "x.svg"], "no map to draw"),
        (["nope", "--memo", "x.md"], "SCENARIO = nope"),
    ],
)
def test_bad_input_is_one_line(arguments, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_a_map_all_but_the_pictures_is_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = ["--svg", "x.svg", "--memo", "x.md", "--png", "x.png", "--html", "x.html"]
    assert main(["export", "ascend_910b", *flags]) == 2
    assert "--svg, --png not written: no map to draw" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"x.md", "x.html"}
    for path in tmp_path.iterdir():
        assert "no published figure for ascend_910b memory_bandwidth_gb_per_s" in path.read_text().replace(
            "\\", ""
        )
