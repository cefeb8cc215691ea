"""TOML files that say something no scenario can take: one line with file, key and what is allowed."""

from pathlib import Path

import pytest

from pdexplorer.scenario.presets import read_scenario, read_titled


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[slo]\ntpot_ms = 1\nttft_s = " + "9" * 5000, "slo.ttft_s: allowed is a number"),
        ("[slo]\nttft_s = 0x" + "f" * 5000, "slo.ttft_s: allowed is a number"),
        ("[[slo]]\nttft_s = 1", "slo is an array of tables; write [slo]"),
        ("slo = [{ttft_s = 1}]", "slo is an array of tables; write [slo]"),
        ('"slo.ttft_s" = 3\n[slo]\nttft_s = 1', "slo.ttft_s: set twice"),
        ("[slo]\nttft_s = [1]", "slo.ttft_s is a list: allowed is a number"),
        (
            '[compare]\naccelerators = [["h100_sxm"]]',
            "compare.accelerators is a list of lists: allowed is ids",
        ),
        ("a." * 2000 + "b = 1", "nested too deeply"),
        ("title = 3\n[slo]\nttft_s = 1", "title = 3"),
        ('[model]\nname = "zzz"', "pdexplorer catalog models lists them"),
    ],
)
def test_what_no_scenario_can_take(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(content)
    with pytest.raises(ValueError, match=r"mine\.toml") as error:
        read_scenario(file)
    text = str(error.value)
    assert says in text
    assert "set_int_max_str_digits" not in text
    assert "\n" not in text
    assert len(text) < 400


def test_a_file_may_have_a_title_and_a_place_in_a_list(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "Our\\n case"\norder = 3\n[compare]\naccelerators = ["h100_sxm", "h20_96"]\n')
    scenario, title, why = read_titled(file)
    assert (title, why) == ("Our case", "")
    assert scenario.compare.accelerators == ("h100_sxm", "h20_96")
