"""The search ends where the limits are, over designs and scenarios drawn at random."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.steady.colocated_capacity import colocated_score, in_flight_bounds
from pdexplorer.steady.disaggregated import (
    decode_bounds,
    decode_needed,
    decode_scores,
    prefill_bounds,
    prefill_capacity,
    prefill_score,
)
from pdexplorer.steady.load import load_of
from pdexplorer.steady.solve import lowest
from pdexplorer.study.search.score import DisaggregatedScore, score_colocated, score_disaggregated
from pdexplorer.study.search.space import design_space

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def _drawn(seed: int) -> Scenario:
    draw = np.random.default_rng(seed)
    presets = load_presets()
    settings = {
        "workload.input_tokens": str(int(np.exp(draw.uniform(np.log(200), np.log(40000))))),
        "workload.output_tokens": str(int(np.exp(draw.uniform(np.log(10), np.log(2000))))),
        "workload.input_distribution": str(draw.choice(["fixed", "lognormal", "heavy_tail"])),
        "slo.tpot_ms": f"{np.exp(draw.uniform(np.log(12), np.log(150))):.3g}",
        "slo.ttft_s": f"{np.exp(draw.uniform(np.log(0.3), np.log(8))):.3g}",
    }
    names = ("rag_h100", "short_chat_h100", "deepseek_v3_h200", "rtx_pro_5000_h20")
    return apply_settings(presets[names[seed % len(names)]].scenario, settings)[0]


def _is_the_limit(score: Callable[[Array], Array], bounds: tuple[Array, Array], x: Array, fits: Mask) -> None:
    """Where the least load fits, x does, and a millionth more does not."""
    low, high = bounds
    assert np.array_equal(*np.broadcast_arrays(fits, score(low) >= 0.0))
    within = fits & (x < high * (1.0 - 1e-6))
    assert np.all(score(x)[fits] >= -1e-12)
    assert np.all(score(x * (1.0 + 1e-6))[within] < 0.0)


@pytest.mark.parametrize("seed", range(16))
def test_a_capacity_holds_the_limits_and_a_millionth_more_does_not(seed: int) -> None:
    scenario = _drawn(seed)
    space, load = design_space(scenario, load_catalog()), load_of(scenario)
    one = score_colocated(space, load)
    assert one is not None
    _is_the_limit(
        lambda x: colocated_score(one.designs, x, None),
        in_flight_bounds(one.designs),
        one.in_flight,
        one.fits,
    )
    split = score_disaggregated(space, load)
    assert isinstance(split, DisaggregatedScore)
    designs = split.designs
    needed = decode_needed(designs)
    _is_the_limit(
        lambda x: lowest(decode_scores(designs, x, None, needed)),
        decode_bounds(designs),
        split.decode.in_flight,
        split.decode_fits,
    )
    rate = prefill_capacity(designs, split.decode)
    _is_the_limit(
        lambda x: prefill_score(designs, x, split.decode, None), prefill_bounds(designs), rate.x, rate.fits
    )
