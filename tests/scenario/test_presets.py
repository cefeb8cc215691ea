"""Presets load, say why they are there, and a team's folder adds to them without breaking anything."""

from pathlib import Path

import pytest

from pdexplorer.scenario.presets import (
    DEFAULT_PRESET,
    FOLDER_VARIABLE,
    find_preset,
    load_presets,
    preset_names,
    read_scenario,
    scenario_hash,
)
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings

GOOD = 'title = "Ours"\nwhy = "We run it."\n[workload]\ninput_tokens = 9000\n'


def test_there_are_at_least_ten_and_each_says_why() -> None:
    presets = load_presets()
    assert len(presets) >= 12
    assert next(iter(presets)) == DEFAULT_PRESET
    assert len({preset.hash for preset in presets.values()}) == len(presets)
    for preset in presets.values():
        assert preset.title
        assert len(preset.why) > 60
        assert apply_settings(Scenario(), preset.settings) == (preset.scenario, ())


def test_the_spark_preset_tells_dense_from_sparse() -> None:
    why = load_presets()["dgx_spark_h20"].why
    assert "sparse" in why
    assert "250 TFLOPS" in why
    assert "296" in why


def test_the_hash_follows_the_numbers() -> None:
    changed, _ = apply_settings(Scenario(), {"slo.ttft_s": "3"})
    assert scenario_hash(changed) != scenario_hash(Scenario())


def test_a_team_folder_adds_presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours.toml").write_text(GOOD)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert "ours" in preset_names()
    assert load_presets()["ours"].scenario.workload.input_tokens == 9000


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("bad.toml", GOOD + "[slo\n", "not valid TOML"),
        ("bad.toml", GOOD + "[slo]\nttft_s = -1\n", "slo.ttft_s = -1"),
        ("bad.toml", GOOD + "[slo]\nttft = 1\n", "slo.ttft = 1"),
        ("bad.toml", "[slo]\nttft_s = 1\n", "title"),
        ("bad.toml", "", "is empty"),
        ("bad.toml", GOOD + "[slo]\nttft_s = inf\n", "slo.ttft_s = inf"),
        ("Bad name.toml", GOOD, "small letters"),
        ("rag_h100.toml", GOOD, "taken"),
    ],
)
def test_a_broken_team_preset_is_one_line_and_the_others_load(
    tmp_path: Path, name: str, content: str, says: str
) -> None:
    (tmp_path / name).write_text(content)
    (tmp_path / "ours.toml").write_text(GOOD)
    presets = load_presets(tmp_path)
    assert "ours" in presets
    assert len(presets.problems) == 1
    assert name in presets.problems[0]
    assert says in presets.problems[0]
    assert "\n" not in presets.problems[0]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    presets = load_presets(tmp_path / "nowhere")
    assert len(presets) >= 12
    assert "nowhere" in presets.problems[0]


def test_a_name_is_looked_up_and_never_opened(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(GOOD)
    with pytest.raises(ValueError, match="no such preset"):
        find_preset(str(tmp_path / "ours.toml"), load_presets())


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\xff\xfe\x00", "UTF-8"), (b"a" * 1_000_001, "1,000,001 bytes"), (b"[[[[", "not valid TOML")],
)
def test_files_that_are_not_scenarios(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=says):
        read_scenario(file)
    with pytest.raises(ValueError, match="folder"):
        read_scenario(tmp_path)
    with pytest.raises(ValueError, match="device"):
        read_scenario(Path("/dev/zero"))
    with pytest.raises(ValueError, match="cannot be read"):
        read_scenario(tmp_path / "none.toml")
