"""Links say the same scenario again; snippets and names hold whatever a preset is called."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from pdexplorer.export.links import (
    VIEWS,
    base_preset,
    file_name,
    frame_snippet,
    full_link,
    live_address,
    root_address,
    short_link,
)
from pdexplorer.scenario.link import parse_link
from pdexplorer.scenario.presets import Preset
from pdexplorer.scenario.settings import apply_settings

ROOT = "http://127.0.0.1:8501/"
EDITS = (
    {},
    {"workload.input_tokens": "32000", "slo.e2e_s": "none", "network.nic_gbit_per_s": "123.5"},
    {"money.usd_per_hour.h100_sxm": "2.5", "overrides.h100_sxm.memory_gb": "96", "prefill.tp": "4"},
    {
        "compare.accelerators": "h100_sxm,h200_sxm",
        "model.architecture.layers": "40",
        "workload.arrivals": "gamma",
    },
)


@pytest.mark.parametrize("edits", EDITS)
def test_a_full_link_says_the_same_under_any_preset(edits, preset, presets):
    scenario, refused = apply_settings(preset.scenario, edits)
    assert refused == ()
    link = full_link(ROOT, scenario, preset)
    same = parse_link(link, presets)
    assert (same.scenario, same.refused, same.changed) == (scenario, (), ())
    moved = parse_link(link.replace("preset=rag_h100", "preset=reasoning"), presets)
    assert moved.scenario == scenario


@pytest.mark.parametrize("edits", EDITS)
def test_a_short_link_says_the_same_and_only_what_differs(edits, preset, presets):
    scenario, _ = apply_settings(preset.scenario, edits)
    link = short_link(ROOT, scenario, preset)
    assert parse_link(link, presets).scenario == scenario
    assert set(parse_qs(urlsplit(link).query)) <= {"preset", "v", "hash", *edits} | (
        {"model.architecture.layers"} if edits else set()
    )


def test_every_preset_fits_a_full_link_into_what_chats_and_servers_take(presets):
    for preset in presets.values():
        assert len(full_link(ROOT, preset.scenario, preset)) < 8000


def test_the_frame_holds_one_address_and_a_title_whatever_the_preset_is_called(preset):
    named = Preset("team", '"><script>alert(1)</script>', "", preset.scenario, {}, "0")
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append((tag, dict(attrs)))

    Reader().feed(frame_snippet(ROOT, preset.scenario, named, "map"))
    ((tag, attributes),) = found
    assert tag == "iframe"
    assert attributes["title"] == named.title
    query = parse_qs(urlsplit(attributes["src"]).query)
    assert (query["embed"], query["view"]) == (["true"], ["map"])
    assert int(attributes["height"]) > 100


def test_live_addresses_stand_beside_the_page(preset):
    for view in VIEWS:
        address = live_address("https://host/base/", "chart.svg", preset.scenario, preset, view)
        assert address.startswith("https://host/base/chart.svg?view=" + view)


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://host:8501/?preset=x#top", "http://host:8501/"),
        ("https://host/base", "https://host/base/"),
    ],
)
def test_the_page_s_own_address_without_its_query(given, root):
    assert root_address(given) == root


@pytest.mark.parametrize("given", ["javascript:alert(1)", "host/page", "", "file:///etc/passwd"])
def test_other_addresses_are_refused_in_one_line(given):
    with pytest.raises(ValueError, match="allowed is one that starts with http") as error:
        root_address(given)
    assert "\n" not in str(error.value)


def test_file_names_carry_the_preset_and_tell_edits_apart(preset):
    edited, _ = apply_settings(preset.scenario, {"workload.input_tokens": "32000"})
    assert file_name(preset.scenario, preset, "map", "svg") == "pdexplorer-rag_h100-map.svg"
    name = file_name(edited, preset, "map", "svg")
    assert name.startswith("pdexplorer-rag_h100-")
    assert name != "pdexplorer-rag_h100-map.svg"
    odd = Preset('../a"b', "", "", preset.scenario, {}, "0")
    assert "/" not in file_name(preset.scenario, odd, "map", "svg")


def test_a_preset_nobody_else_has_is_told_from_the_one_a_bare_link_opens(preset, presets):
    mine = Preset("mine", "Mine", "", preset.scenario, {}, "0")
    assert base_preset(mine, presets).name == "rag_h100"
    assert base_preset(preset, presets) is preset
