import pytest

from pdexplorer.scenario.presets import load_presets, read_preset
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.ui.preset_file import preset_toml, save_preset, team_folder

PRESETS = load_presets()


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_saved_preset_reads_back_the_same(name, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(preset_toml(PRESETS[name].scenario, 'A "title" \\ here', "Why\nnot"), encoding="utf-8")
    back = read_preset(path)
    assert back.scenario == PRESETS[name].scenario
    assert back.title == 'A "title" \\ here'
    assert back.why == "Why not"


def test_own_models_prices_and_overrides_survive(tmp_path):
    scenario, refused = apply_settings(
        PRESETS["rag_h100"].scenario,
        {
            "model.architecture.layers": "12",
            "money.usd_per_hour.h100_sxm": "1.5",
            "overrides.ascend_910b.memory_bandwidth_gb_per_s": "1600",
            "compare.accelerators": "h100_sxm,h20_96",
        },
    )
    assert not refused
    path = save_preset(tmp_path, "own_model", preset_toml(scenario, "t", "w"))
    assert read_preset(path).scenario == scenario


def test_nothing_is_replaced_without_being_asked(tmp_path):
    content = preset_toml(PRESETS["rag_h100"].scenario, "one", "w")
    save_preset(tmp_path, "mine", content)
    with pytest.raises(ValueError, match="already"):
        save_preset(tmp_path, "mine", content)
    save_preset(tmp_path, "mine", content.replace("one", "two"), replace=True)
    assert read_preset(tmp_path / "mine.toml").title == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


@pytest.mark.parametrize("name", ["", "../x", "UPPER", "a b", "a.toml", "rag_h100", "x" * 65])
def test_a_bad_or_taken_name_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match="name = "):
        save_preset(tmp_path, name, preset_toml(PRESETS["rag_h100"].scenario, "t", "w"))
    assert list(tmp_path.iterdir()) == []


def test_without_a_writable_folder_there_is_none(monkeypatch, tmp_path):
    monkeypatch.delenv("PDEXPLORER_PRESETS", raising=False)
    assert team_folder() is None
    monkeypatch.setenv("PDEXPLORER_PRESETS", str(tmp_path))
    assert team_folder() == tmp_path
