import numpy as np
import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.load import load_of
from pdexplorer.workload.lengths import length_quantiles


def test_means_are_the_scenarios() -> None:
    scenario = Scenario.model_validate(
        {
            "workload": {
                "input_tokens": 5000,
                "output_tokens": 200,
                "prefix_hit_fraction": 0.4,
                "warm_fraction": 0.5,
            }
        }
    )
    load = load_of(scenario)
    assert float(load.mean(load.input_tokens).item()) == pytest.approx(5000)
    assert float(load.mean(load.output_tokens).item()) == pytest.approx(200)
    assert float(load.mean(load.past_tokens).item()) == pytest.approx(2000, rel=1e-3)


def test_axes_scale_lengths_and_hits() -> None:
    hits = np.array([[0.0, 0.5, 0.9]])
    lengths = np.array([[1000.0], [8000.0]])
    load = load_of(Scenario(), {"workload.prefix_hit_fraction": hits, "workload.input_tokens": lengths})
    assert np.allclose(load.mean(load.input_tokens)[:, 0], lengths[:, 0])
    assert np.allclose(load.mean(load.past_tokens), lengths * hits, rtol=1e-3)


def test_long_answers_weigh_the_context() -> None:
    load = load_of(Scenario.model_validate({"workload": {"input_tokens": 1, "output_tokens": 1000}}))
    assert float(load.context_tokens.item()) > 1 + 500


@pytest.mark.parametrize("distribution", ["lognormal", "heavy_tail"])
def test_moments_are_those_of_the_lengths_however_few_the_classes(distribution: str) -> None:
    u = (np.arange(400_000) + 0.5) / 400_000
    lengths = length_quantiles(distribution, 4000.0, None, u)
    for points in (6, 16):
        values = {"input_tokens": 4000, "input_distribution": distribution}
        load = load_of(Scenario.model_validate({"workload": values}), None, points)
        second = float(load.second(load.input_tokens).item()) / 4000.0**2
        assert second == pytest.approx(float(np.mean((lengths / lengths.mean()) ** 2)), rel=0.03)
        assert float(load.mean(load.input_tokens**2).item()) / 4000.0**2 < second
