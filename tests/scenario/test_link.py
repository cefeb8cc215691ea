"""Links open whatever they hold, say what they could not use, and lead back to the same scenario."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdexplorer import MODEL_VERSION
from pdexplorer.scenario.link import MAX_LINK_CHARACTERS, parse_link, parse_query, to_link, to_query
from pdexplorer.scenario.presets import DEFAULT_PRESET, load_presets
from pdexplorer.scenario.settings import apply_settings

PRESETS = load_presets()
RAG = PRESETS[DEFAULT_PRESET]


def test_a_preset_and_only_what_differs() -> None:
    scenario, _ = apply_settings(RAG.scenario, {"workload.input_tokens": "32000", "network.link": "roce_200"})
    query = to_query(scenario, RAG)
    assert query == {
        "preset": RAG.name,
        "workload.input_tokens": "32000",
        "network.link": "roce_200",
        "v": MODEL_VERSION,
        "hash": RAG.hash,
    }
    result = parse_query(query, PRESETS)
    assert (result.preset, result.scenario, result.refused, result.changed) == (RAG, scenario, (), ())


@pytest.mark.parametrize(
    "form",
    ["https://host:8501/page?{}", "?{}", "{}", " ?{}#top", "http://host/?{}&view=map&lang=zh&embed=true&a=x"],
)
def test_a_full_address_or_only_its_query(form: str) -> None:
    scenario, _ = apply_settings(RAG.scenario, {"compare.accelerators": "h100_sxm,h20_96"})
    result = parse_link(form.format(to_link(scenario, RAG).lstrip("?")), PRESETS)
    assert result.scenario == scenario
    assert result.refused == ()


def test_changed_version_and_preset_are_said() -> None:
    result = parse_link(f"?preset={RAG.name}&v=0.0&hash=00000000", PRESETS)
    assert result.refused == ()
    assert "model version 0.0" in result.changed[0]
    assert f"{RAG.name} has changed" in result.changed[1]


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ("?preset=../../etc/passwd", "preset"),
        ("?preset=/tmp/x.toml", "preset"),
        ("?workload.trace_file=/etc/passwd", "workload.trace_file"),
        ("?workload.arrivals=trace", "workload.arrivals"),
        ("?slo.ttft_s=1&slo.ttft_s=3", "slo.ttft_s"),
        ("?nonsense", "nonsense"),
        ("?%%%&&", "%%%"),
        ("?workload.input_tokens=%31%65%39", "workload.input_tokens"),
        ("x" * (MAX_LINK_CHARACTERS + 1), "link"),
        ("&".join(f"k{i}=1" for i in range(600)), "link"),
    ],
)
def test_what_a_link_cannot_say_is_refused(link: str, key: str) -> None:
    result = parse_link(link, PRESETS)
    assert [r.key for r in result.refused] == [key]
    assert len(result.refused[0].text) < 400
    assert result.scenario.workload.trace_file == ""


def test_the_last_of_two_counts() -> None:
    assert parse_link("?slo.ttft_s=1&slo.ttft_s=3", PRESETS).scenario.slo.ttft_s == 3


def test_a_trace_file_stays_behind() -> None:
    scenario, refused = apply_settings(
        RAG.scenario, {"workload.trace_file": "/data/mine.csv", "workload.arrivals": "trace"}
    )
    assert refused == ()
    assert "workload.trace_file" not in to_query(scenario, RAG)


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    parse_link(text, PRESETS)
    parse_link(f"?preset={text}&slo.ttft_s={text}", PRESETS)
