import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.break_even import gains
from pdexplorer.study.compare import evaluate
from pdexplorer.study.contours import contour_lines
from pdexplorer.study.map import break_even_map
from pdexplorer.study.search.axes import current
from pdexplorer.study.search.space import design_space


def test_contours_close_and_can_be_several() -> None:
    x = np.linspace(-2, 2, 41)
    field = np.minimum(np.hypot(x[None] - 1, x[:, None]), np.hypot(x[None] + 1, x[:, None]))
    lines = contour_lines(x, x, field, 0.5)
    assert len(lines) == 2
    for line in lines:
        assert line[0] == line[-1]
        radius = [min(np.hypot(a - 1, b), np.hypot(a + 1, b)) for a, b in line]
        assert np.allclose(radius, 0.5, atol=0.02)


def test_contours_skip_cells_that_cannot() -> None:
    field = np.array([[0.0, 2.0], [np.nan, 2.0]])
    assert contour_lines(np.arange(2.0), np.arange(2.0), field, 1.0) == []


def test_map_agrees_with_the_same_cells_asked_one_by_one() -> None:
    x, y = np.array([1000.0, 8000.0]), np.array([5.0, 400.0])
    result = break_even_map(Scenario(), x_values=x, y_values=y)
    space = design_space(Scenario(), load_catalog())
    for row, speed in enumerate(y):
        for column, tokens in enumerate(x):
            axes = {
                "workload.input_tokens": np.array([[tokens]]),
                "network.nic_gbit_per_s": np.array([[speed]]),
            }
            alone = float(gains(space, axes, True, 6).item())
            assert result.gain[row, column] == pytest.approx(alone, rel=1e-3)


def test_a_slower_network_never_helps() -> None:
    result = break_even_map(Scenario(), x_values=[2000, 8000], y_values=np.geomspace(2, 800, 8))
    assert np.all(np.diff(result.gain, axis=0) >= -1e-2 * result.gain[1:])


def test_an_axis_that_cannot_vary_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match=r"model\.name.*workload\.input_tokens"):
        break_even_map(Scenario(), x_key="model.name")


def test_no_cell_is_left_out_by_a_guess_that_does_not_hold() -> None:
    scenario = load_presets()["one_box_8_h100"].scenario
    x, y = np.geomspace(200, 2e5, 36)[7:10], np.geomspace(2.5, 5760, 24)[10:13]
    gain = break_even_map(scenario, x_values=x, y_values=y).gain
    assert gain.min() > 0.5 * gain.max()


def test_a_large_map_finds_what_all_designs_in_all_cells_give() -> None:
    scenario, catalog = Scenario(), load_catalog()
    x, y = np.geomspace(500, 30000, 22), np.geomspace(10, 100, 20)
    large = break_even_map(scenario, "workload.input_tokens", "slo.tpot_ms", x, y).gain
    space = design_space(scenario, catalog)
    for row in (3, 11, 18):
        axes = {"workload.input_tokens": x[None, :], "slo.tpot_ms": y[row : row + 1, None]}
        alone = gains(space, axes, True, 6)[0]
        assert np.array_equal(np.isfinite(large[row]) & (large[row] > 0), np.isfinite(alone) & (alone > 0))
        both = np.isfinite(alone) & (alone > 0)
        assert np.median(np.abs(large[row][both] / alone[both] - 1.0)) < 0.01


def test_a_price_may_vary_and_changes_no_step() -> None:
    scenario = load_presets()["rtx_pro_5000_h20"].scenario
    key, prices = "money.usd_per_hour.rtx_pro_5000_48", np.array([0.5, 1.0, 2.0])
    gain = break_even_map(scenario, x_key=key, y_key="slo.tpot_ms", x_values=prices, y_values=[30, 60]).gain
    for column, price in enumerate(prices):
        money = scenario.money.model_copy(
            update={"usd_per_hour": {**scenario.money.usd_per_hour, "rtx_pro_5000_48": price}}
        )
        space = design_space(scenario.model_copy(update={"money": money}), load_catalog())
        alone = gains(space, {"slo.tpot_ms": np.array([[30.0], [60.0]])}, True, 6)[:, 0]
        assert gain[:, column] == pytest.approx(alone, rel=1e-3)
    with pytest.raises(ValueError, match=r"usd_per_hour\.ACCELERATOR"):
        break_even_map(scenario, x_key="money.usd_per_hour.nothing")


@pytest.mark.parametrize(
    "preset", ["rag_h100", "agent_long_context", "long_summaries", "all_h200", "rdma_fallback"]
)
def test_the_scenarios_own_cell_shows_the_verdicts_ratio(preset: str) -> None:
    """A map tells fewer lengths of prompts apart than a verdict, which leaves 2%; who can is the same."""
    scenario, catalog = load_presets()[preset].scenario, load_catalog()
    own = [current(scenario, catalog, key) for key in ("workload.input_tokens", "network.nic_gbit_per_s")]
    gain = break_even_map(scenario, x_values=[own[0]], y_values=[own[1]]).gain.item()
    verdict = evaluate(scenario, with_break_even=False).verdict
    assert gain == pytest.approx(verdict.ratios.goodput_per_dollar or 0.0, rel=0.02)


def test_a_tight_limit_leaves_the_map_what_it_leaves_the_verdict() -> None:
    """A prompt alone takes most of the TTFT limit, so decode may not have half of the misses."""
    base = load_presets()["rag_h100"].scenario
    for seconds in (0.5, 0.6, 0.68, 0.7, 0.8):
        scenario = apply_settings(base, {"slo.ttft_s": str(seconds)})[0]
        gain = break_even_map(scenario, x_values=[8000], y_values=[400]).gain.item()
        answer = evaluate(scenario, with_break_even=False)
        assert (gain > 0.0) == answer.disaggregated.feasible
        assert np.isfinite(gain) == answer.colocated.feasible
