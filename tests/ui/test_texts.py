import re
from pathlib import Path

import pytest

from pdexplorer.scenario.keys import keys
from pdexplorer.ui.sidebar import FIRST_SCREEN, GROUPS, group_fields
from pdexplorer.ui.texts import catalogue, choice_text, plain, text

UI = Path(__file__).parents[2] / "pdexplorer" / "ui"


def test_every_field_on_the_page_has_a_label():
    for group in GROUPS:
        for name in group_fields(group):
            assert text(f"field.{name}")
    for name in FIRST_SCREEN:
        assert text(f"field.{name}")


def test_every_key_is_on_the_page_once():
    shown = [name for group in GROUPS for name in group_fields(group)] + list(FIRST_SCREEN)
    fixed = {name for name in keys() if not name.startswith("model.architecture")} - {"workload.trace_file"}
    assert sorted(shown) == sorted(fixed)


def test_texts_asked_for_in_the_code_exist():
    code = "\n".join(path.read_text() for path in UI.glob("*.py"))
    asked = set(re.findall(r"""\btext\(\s*["']([a-z_]+\.[a-z_0-9.]+)["']""", code))
    assert asked
    assert asked <= set(catalogue("en"))


def test_no_text_stands_unused():
    code = "\n".join(path.read_text() for path in UI.glob("*.py") if not path.name.startswith("english"))
    built = set(re.findall(r"""["']([a-z]+\.[a-z_]*)\{""", code))
    unused = [
        key
        for key in catalogue("en")
        if not key.startswith(("field.", "choice."))
        and f'"{key}"' not in code
        and f"'{key}'" not in code
        and f"{key.removesuffix('_help')}" not in code
        and not any(key.startswith(stem) for stem in built)
    ]
    assert unused == []


def test_units_stand_in_the_labels_of_dimensional_fields():
    for key in keys().values():
        label = catalogue("en").get(f"field.{key.name}", "")
        if label and key.unit and key.unit not in ("/s", "years", "%"):
            assert re.search(r"tokens|\(ms\)|\(s\)|Gbit/s|USD", label), key.name


@pytest.mark.parametrize(
    "hostile", ["[x](javascript:1)", "**b** $x$ :red[y]", "<b>`c`</b>", ":material/home:"]
)
def test_other_peoples_words_are_not_markup(hostile):
    shown = plain(hostile)
    for mark in "[]*$:<>`":
        assert mark not in re.sub(r"\\.", "", shown)


def test_a_choice_without_a_text_reads_as_links_write_it():
    assert choice_text("model.weight_format", "fp8") == "fp8"
    assert choice_text("network.first_token_from", "decode").startswith("decode pool")
