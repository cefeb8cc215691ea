"""Dotted keys: what is taken, what is refused, and that a difference undoes itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings, diff

BASE = Scenario()


def refusal(key: str, value: object) -> str:
    scenario, refused = apply_settings(BASE, {key: value})
    assert scenario == BASE
    assert len(refused) == 1
    assert "\n" not in refused[0].text
    return refused[0].text


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("workload.inptu_tokens", "1", "workload.input_tokens"),
        ("slo", "1", "close: slo.ttft_s, slo.tpot_ms"),
        ("input_tokens", "1", "workload.input_tokens"),
        ("prefill", "h100_sxm", "no such key"),
        ("workload.input_tokens", "0", "from 1 to 2,000,000 tokens"),
        ("workload.input_tokens", "inf", "from 1 to 2,000,000 tokens"),
        ("workload.input_tokens", "nan", "from 1 to 2,000,000 tokens"),
        ("workload.input_tokens", "lots", "workload.input_tokens = lots"),
        ("workload.input_tokens", "", "(empty)"),
        ("workload.arrivals", "poison", "close: poisson"),
        ("slo.ttft_s", "auto", "or none"),
        ("slo.ttft_s", "1_0", "slo.ttft_s = 1_0: allowed is a number"),
        ("slo.ttft_s", "\u0663", "allowed is a number"),
        ("colocated.tp", "\uff14", "allowed is an integer"),
        ("money.usd_per_hour.h20_96", "1_0", "above 0"),
        ("colocated.tp", "2.5", "an integer from 1 to 64, or auto"),
        ("network.layerwise_overlap", "maybe", "true or false"),
        ("prefill.accelerator", "h100", "close: "),
        ("prefill.accelerator", "auto", "catalogue's accelerators"),
        ("model.name", "llama_3_1_70", "llama_3_1_70b"),
        ("network.link", "roce_40", "roce_400"),
        ("engine.profile", "vlm", "vllm"),
        ("compare.accelerators", "h100_sxm,h200", "close: "),
        ("money.currency", "usd", "three capital letters"),
        ("money.usd_per_hour.h20", "1", "no accelerator h20"),
        ("money.usd_per_hour.h20_96", "0", "above 0"),
        ("money.usd_per_hour", "1", "money.usd_per_hour.ID"),
        ("overrides.ascend_910b.bandwidth", "1600", "memory_bandwidth_gb_per_s"),
        ("overrides.ascend_910.memory_gb", "64", "ascend_910b"),
        ("overrides.ascend_910b.memory_gb", "-1", "above 0"),
        ("model.architecture", "llama", "only none"),
        ("model.architecture.layers", "0", "above 0"),
        ("workload.input_p95_tokens", "10", "workload.input_p95_tokens = 10 must lie between the mean, 4000"),
        ("workload.prefix_hit_fraction", "1", "from 0 to 0.999"),
        ("workload.arrivals", "trace", "workload.trace_file"),
        ("verdict.pays_ratio", "2", "verdict.clearly_ratio = 1.5"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_is_allowed(key: str, value: str, says: str) -> None:
    text = refusal(key, value)
    assert says in text
    assert key in text


def test_words_stand_for_none() -> None:
    scenario, refused = apply_settings(
        BASE, {"slo.ttft_s": "none", "colocated.tp": "auto", "network.latency_ms": "AUTO", "slo.e2e_s": "30"}
    )
    assert refused == ()
    assert scenario.slo.ttft_s is None
    assert scenario.slo.e2e_s == 30
    assert scenario.colocated.tp is None


def test_one_bad_key_leaves_the_others() -> None:
    scenario, refused = apply_settings(BASE, {"slo.ttft_s": "-1", "workload.rate_per_s": "9"})
    assert [r.key for r in refused] == ["slo.ttft_s"]
    assert scenario.slo.ttft_s == 2.0
    assert scenario.workload.rate_per_s == 9


def test_a_p95_of_the_base_moves_with_its_mean() -> None:
    base, _ = apply_settings(BASE, {"workload.input_tokens": 4000, "workload.input_p95_tokens": 10000})
    moved, refused = apply_settings(base, {"workload.input_tokens": "8000"})
    assert refused == ()
    assert moved.workload.input_p95_tokens == 20000
    assert diff(moved, base) == {"workload.input_tokens": "8000"}


def test_warm_share_and_hits_must_agree() -> None:
    _, refused = apply_settings(
        BASE, {"workload.warm_fraction": "0.3", "workload.prefix_hit_fraction": "0.5"}
    )
    assert [r.key for r in refused] == ["workload.warm_fraction"]


def test_an_architecture_starts_from_the_named_model() -> None:
    scenario, refused = apply_settings(
        BASE, {"model.name": "llama_3_1_8b", "model.architecture.kv_heads": "4"}
    )
    assert refused == ()
    assert scenario.model.architecture is not None
    assert scenario.model.architecture.kv_heads == 4
    assert scenario.model.architecture.layers == 32
    assert diff(scenario, BASE) == {"model.name": "llama_3_1_8b", "model.architecture.kv_heads": "4"}
    back, _ = apply_settings(scenario, {"model.architecture": "none"})
    assert back.model.architecture is None


def test_fields_of_an_architecture_that_disagree_are_refused() -> None:
    _, refused = apply_settings(BASE, {"model.architecture.experts": "8"})
    assert [r.key for r in refused] == ["model.architecture.experts"]
    both = {"model.architecture.experts": "8", "model.architecture.experts_per_token": "2"}
    assert apply_settings(BASE, both)[1] == ()


def test_overrides_and_prices_come_and_go() -> None:
    key, price = "overrides.ascend_910b.memory_bandwidth_gb_per_s", "money.usd_per_hour.rtx_pro_5000_48"
    scenario, refused = apply_settings(BASE, {key: "1600", price: "0.8"})
    assert refused == ()
    assert scenario.overrides == {"ascend_910b": {"memory_bandwidth_gb_per_s": 1600}}
    assert scenario.money.usd_per_hour == {"rtx_pro_5000_48": 0.8}
    assert diff(BASE, scenario) == {key: "none", price: "none"}
    assert apply_settings(scenario, {key: "none", price: "none"})[0] == BASE


def test_differences_between_presets_undo_themselves() -> None:
    scenarios = [preset.scenario for preset in load_presets().values()]
    for base in scenarios:
        for scenario in scenarios:
            assert apply_settings(base, diff(scenario, base)) == (scenario, ())


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(sorted(keys())), st.text(max_size=30)),
        st.one_of(
            st.floats(), st.integers(), st.text(max_size=20), st.sampled_from(["auto", "none", "1e400"])
        ),
        max_size=5,
    )
)
def test_nothing_breaks_it_and_what_it_takes_survives(settings: dict[str, object]) -> None:
    scenario, refused = apply_settings(BASE, settings)
    assert all("\n" not in r.text and r.key in settings for r in refused)
    assert apply_settings(BASE, diff(scenario, BASE)) == (scenario, ())


def test_every_key_says_what_it_is_for() -> None:
    for name, key in keys().items():
        assert key.allowed
        assert key.description or name.startswith("model.architecture.")
