import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate
from pdexplorer.study.faults import fault_rows

RAG = load_presets()["rag_h100"].scenario


def rows_of(key, **settings):
    scenario, refused = apply_settings(
        RAG, {name.replace("__", "."): value for name, value in settings.items()}
    )
    assert refused == ()
    rows = fault_rows(evaluate(scenario, with_break_even=False), requests=300, keys=(key,))
    return {row.fleet: row for row in rows}


def test_a_link_at_a_hundredth_of_its_rate_is_named_as_slow_transfer():
    row = rows_of("slow_link", faults__link_rate_fraction="0.01")["disaggregated"]
    assert row.lost_requests > 0
    assert row.late.cause == "slow_transfer"


def test_a_pool_short_of_an_instance_is_not_taken_for_the_link():
    assert rows_of("prefill_down")["disaggregated"].late.cause in ("queue", "slow_prefill")


def test_without_a_limit_nothing_is_late():
    assert rows_of("router_down", slo__ttft_s="none")["disaggregated"].late is None


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValueError, match="fault = 'meteor' is not one of"):
        rows_of("meteor")
