"""What README shows is what there is: commands, keys, links and the shape of the pasted output."""

import re
from pathlib import Path

import pytest

from pdexplorer.cli import main
from pdexplorer.scenario.link import parse_link
from pdexplorer.scenario.presets import load_presets, read_scenario

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


def test_its_link_opens() -> None:
    (link,) = re.findall(r"http://localhost:8501/\S+", README)
    result = parse_link(link, load_presets())
    assert result.refused == ()
    assert result.scenario.workload.input_tokens == 32000


def test_the_pasted_output_has_the_rows_of_the_real_one(capsys: pytest.CaptureFixture[str]) -> None:
    (pasted,) = re.findall(
        r"^\$ pdexplorer evaluate rag_h100\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL
    )
    assert main(["evaluate", "rag_h100"]) == 0
    assert labels(pasted) == labels(capsys.readouterr().out)


def labels(output: str) -> list[str]:
    """First cell of each row of the two-column table."""
    table = output.partition("\ndesign")[2].partition("\n\n")[0]
    return [re.split(r"\s{2,}", row.strip())[0] for row in table.splitlines()[1:]]
