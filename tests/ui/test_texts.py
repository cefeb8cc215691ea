import re
from pathlib import Path
from string import Formatter

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence import published_results
from pdexplorer.evidence.published import load_published
from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.checklist import checklist
from pdexplorer.study.faults import FAULTS
from pdexplorer.texts.catalogue import LANGUAGES, catalogue
from pdexplorer.texts.chinese_causes import CAUSES
from pdexplorer.texts.chinese_checklist import CHECKLIST
from pdexplorer.texts.chinese_figures import FIGURES
from pdexplorer.texts.chinese_presets import PRESETS
from pdexplorer.texts.chinese_published import CHANGES, CLAIMS
from pdexplorer.ui import texts
from pdexplorer.ui.sidebar import FIRST_SCREEN, GROUPS, group_fields
from pdexplorer.ui.texts import choice_text, plain, text

PACKAGE = Path(__file__).parents[2] / "pdexplorer"
WORDS = ("english", "chinese")


def code():
    rooms = [path for room in ("ui", "texts", "export") for path in (PACKAGE / room).rglob("*.py")]
    return "\n".join(path.read_text() for path in rooms if not path.name.startswith(WORDS))


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


def test_both_languages_hold_the_same_texts():
    english, chinese = (
        {key for key in catalogue(language) if not key.startswith("help.")} for language in LANGUAGES
    )
    assert english - chinese == set()
    assert chinese - english == set()


def test_both_languages_fill_in_the_same_values():
    def names(words):
        return {name for _, name, _, _ in Formatter().parse(words) if name is not None}

    for key, words in catalogue("en").items():
        assert names(words) == names(catalogue("zh")[key]), key


def test_every_field_is_explained_in_chinese():
    fixed = {name for name in keys() if not name.startswith("model.architecture")} - {"workload.trace_file"}
    known = {key.removeprefix("help.") for key in catalogue("zh") if key.startswith("help.")}
    assert fixed <= known
    assert known - set(keys()) == set()


def test_every_preset_has_a_chinese_title():
    assert set(load_presets()) == set(PRESETS)


def test_chinese_is_chinese():
    untranslated = {
        key
        for key, words in catalogue("zh").items()
        if not re.search("[\u4e00-\u9fff]", words) and re.search("[a-z]{4}", re.sub(r"\{[^}]*\}", "", words))
    }
    assert untranslated <= {"choice.auto", "choice.poisson", "choice.unit.tokens", "page.title"}


def test_texts_asked_for_in_the_code_exist():
    asked = set(re.findall(r"""\btext\(\s*["']([a-z_]+\.[a-z_0-9.]+)["']""", code()))
    assert asked
    assert asked <= set(catalogue("en"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_stands_unused(language):
    source = code()
    built = set(re.findall(r"""["']([a-z]+\.[a-z_]*)\{""", source))
    unused = [
        key
        for key in catalogue(language)
        if not key.startswith(("field.", "choice.", "help."))
        and f'"{key}"' not in source
        and f"{key.removesuffix('_help')}" not in source
        and not (key.startswith("export.") and f'text("{key.removeprefix("export.")}"' in source)
        and not (key.startswith("export.") and f'"{key.removeprefix("export.")}"' in source)
        and not any(key.startswith(stem) for stem in built)
    ]
    assert unused == []


def test_units_stand_in_the_labels_of_dimensional_fields():
    for language in LANGUAGES:
        for key in keys().values():
            label = catalogue(language).get(f"field.{key.name}", "")
            if label and key.unit and key.unit not in ("/s", "/year", "years", "%"):
                assert re.search(r"tokens?|\(ms\)|\(s\)|Gbit/s|GB|USD", label), key.name


@pytest.mark.parametrize(
    "hostile", ["[x](javascript:1)", "**b** $x$ :red[y]", "<b>`c`</b>", ":material/home:"]
)
def test_other_peoples_words_are_not_markup(hostile):
    shown = plain(hostile)
    for mark in "[]*$:<>`":
        assert mark not in re.sub(r"\\.", "", shown)


def test_a_choice_without_a_text_reads_as_links_write_it(monkeypatch):
    assert choice_text("model.weight_format", "fp8") == "fp8"
    assert choice_text("network.first_token_from", "decode").startswith("decode pool")
    monkeypatch.setattr(texts, "language", lambda: "zh")
    assert choice_text("network.first_token_from", "decode").startswith("解码池")


def test_the_operators_checklist_is_known_in_chinese():
    assert {row.key for row in checklist()} == set(CHECKLIST)


def test_the_cause_of_every_published_miss_is_known_in_chinese():
    assert set(published_results.CAUSES) == set(CAUSES)


def test_every_fault_has_a_name():
    assert {f"fault.{key}" for key in FAULTS} == {key for key in catalogue("en") if key.startswith("fault.")}


def test_every_figure_of_the_catalogue_has_a_chinese_name():
    catalog = load_catalog()
    groups = (catalog.accelerators, catalog.links, catalog.engines)
    figures = {name for group in groups for record in group.values() for name in record.figures}
    assert figures - set(FIGURES) == set()


def test_every_published_case_and_its_correction_is_told_in_chinese():
    cases = load_published()
    assert {case.id for case in cases} == set(CLAIMS)
    assert {case.id for case in cases if case.changed} == set(CHANGES)
