"""Where nothing can serve, the limit that is named is the one of the design that comes closest."""

from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import Evaluation, evaluate


def test_a_figure_that_blocks_larger_instances_comes_before_what_does_not_fit_on_the_smallest() -> None:
    base = load_presets()["ascend_910b"].scenario
    answer = _evaluated(base, {"overrides.ascend_910b.memory_bandwidth_gb_per_s": "1600"})
    for side in (answer.colocated, answer.disaggregated):
        assert side.infeasible is not None
        assert side.infeasible.limit == "missing_figure"
        assert "overrides.ascend_910b.scale_up_gb_per_s_per_direction" in side.infeasible.text


def _evaluated(base: Scenario, changes: dict[str, str]) -> Evaluation:
    scenario, refused = apply_settings(base, changes)
    assert not refused
    return evaluate(scenario, with_break_even=False)
