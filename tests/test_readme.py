"""What README shows is what there is: commands, keys, links, addresses and the pasted output."""

import json
import re
from pathlib import Path

import pytest

from pdexplorer.cli.main import main
from pdexplorer.scenario.link import parse_link
from pdexplorer.scenario.presets import load_presets, read_scenario
from pdexplorer.ui.routes import routes

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def test_every_command_it_names_exists(capsys: pytest.CaptureFixture[str]) -> None:
    for command in set(re.findall(r"pdexplorer ([a-z]+)\b(?! =)", README)) - {"answers"}:
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
    capsys.readouterr()


def test_its_scenario_file_is_read(tmp_path: Path) -> None:
    (toml,) = blocks("toml")
    file = tmp_path / "mine.toml"
    file.write_text(toml)
    assert read_scenario(file).workload.input_tokens == 6000


def test_its_figures_for_the_ascend_are_all_that_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = (block for block in blocks("sh") if "evaluate ascend_910b" in block)
    given = command.replace("\\\n", " ").split()[1:]
    answers = []
    for arguments in (given[:2], given):
        assert main([*arguments, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    for side in ("colocated", "disaggregated"):
        named = set(re.findall(r"overrides\.\w+\.\w+", answers[0][side]["infeasible"]["text"]))
        assert named == {each.partition("=")[0] for each in given if "=" in each}
        assert answers[1][side]["feasible"]


def test_its_link_opens() -> None:
    (link,) = re.findall(r"http://localhost:8501/\S+", README)
    result = parse_link(link, load_presets())
    assert result.refused == ()
    assert result.scenario.workload.input_tokens == 32000


def test_the_pasted_output_is_the_real_one_where_no_number_drifts(capsys: pytest.CaptureFixture[str]) -> None:
    (pasted,) = re.findall(
        r"^\$ pdexplorer evaluate rag_h100\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL
    )
    assert main(["evaluate", "rag_h100"]) == 0
    real = capsys.readouterr().out
    assert pasted.splitlines()[0] == real.splitlines()[0]
    assert decision(pasted) == decision(real)
    assert leads(pasted) == leads(real)
    assert labels(pasted) == labels(real)


def test_the_addresses_it_names_are_served() -> None:
    served = {route.path for route in routes("") if "{" not in route.path}  # all else under /api is refused
    assert set(re.findall(r"`(/[a-z0-9/.]+)\?", README)) == served


def decision(output: str) -> str:
    """The verdict's sentence up to its numbers: "Disaggregate, clearly: at least cost"."""
    sentence = next(line for line in output.splitlines()[1:] if line.strip())
    return sentence.partition(" for this demand")[0]


def leads(output: str) -> list[str]:
    """What begins the parts around the table: because, but, rests, datasheet."""
    return re.findall(r"^ {0,2}([a-z]+) ", output.replace(table_of(output), ""), flags=re.MULTILINE)


def labels(output: str) -> list[str]:
    """First cell of each row of the two-column table."""
    return [re.split(r"\s{2,}", row.strip())[0] for row in table_of(output).splitlines()[1:]]


def table_of(output: str) -> str:
    return output.partition("\ndesign")[2].partition("\n\n")[0]
