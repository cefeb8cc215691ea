"""What a point of a tab changes in the scenario when it is taken."""

from types import SimpleNamespace

import pytest

from pdexplorer.evidence.published import load_published
from pdexplorer.scenario.link import parse_link
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.ui.tabs.hybrid import threshold_settings
from pdexplorer.ui.tabs.load import rate_settings
from pdexplorer.ui.tabs.replayed import as_link
from pdexplorer.ui.tabs.sizing import instance_settings

PRESETS = load_presets()
RAG = PRESETS["rag_h100"].scenario


def taken(settings, scenario=RAG):
    found, refused = apply_settings(scenario, settings)
    assert refused == ()
    return found


def test_a_rate_at_peak_is_set_as_the_mean_that_peaks_there():
    peaky = taken({"workload.peak_to_mean_ratio": "2"})
    assert taken(rate_settings(peaky, 12.3456), peaky).workload.rate_per_s == 6.17


def test_a_rate_ends_a_closed_loop():
    closed = taken({"workload.arrivals": "closed_loop"})
    found = taken(rate_settings(closed, 9.0), closed).workload
    assert (found.arrivals, found.rate_per_s) == ("poisson", 9.0)


@pytest.mark.parametrize("fleet", ["disaggregated", "colocated"])
def test_a_size_fixes_that_fleets_instances_only(fleet):
    found = taken(instance_settings(SimpleNamespace(fleet=fleet, prefill=5, decode=2, colocated=9)))
    sizes = (found.prefill.instances, found.decode.instances, found.colocated.instances)
    assert sizes == ((5, 2, None) if fleet == "disaggregated" else (None, None, 9))


def test_a_threshold_comes_with_the_pools_it_was_swept_on():
    found = taken(threshold_settings(SimpleNamespace(threshold_tokens=640, prefill=3, decode=2)))
    assert found.routing.local_threshold_tokens == 640
    assert (found.prefill.instances, found.decode.instances) == (3, 2)


@pytest.mark.parametrize("case", load_published()[:12:3], ids=lambda case: case.id)
def test_a_published_case_opens_as_its_own_scenario(case):
    link = parse_link(as_link(case.scenario, PRESETS), PRESETS)
    assert link.refused == ()
    assert link.scenario == case.scenario
