import numpy as np
import pytest

from pdexplorer.charts.latency import COLUMNS, latency_distribution, latency_frame
from pdexplorer.charts.template import to_template

FLEETS = {"colocated": "Colocated", "disaggregated": "Disaggregated"}


def test_the_curve_passes_through_the_quantiles():
    values = np.linspace(0.1, 1.1, 1001)
    frame = latency_frame({"colocated": values}, FLEETS, None)
    assert tuple(frame.columns) == COLUMNS
    at = frame.iloc[(frame["share"] - 0.5).abs().argmin()]
    assert at["latency_ms"] == pytest.approx(np.quantile(values, at["share"]) * 1e3)


def test_a_request_without_a_value_is_left_out():
    frame = latency_frame({"colocated": np.array([np.nan, 0.2, 0.2])}, FLEETS, 2.0)
    curve = frame[frame["row"] == "curve"]
    assert np.allclose(curve["latency_ms"].astype(float), 200.0)
    assert list(frame[frame["row"] == "limit"]["latency_ms"]) == [2000.0]


def test_nothing_completed_gives_an_empty_frame_that_still_draws():
    frame = latency_frame({"colocated": np.array([np.nan])}, FLEETS, None)
    assert frame.empty
    assert tuple(frame.columns) == COLUMNS


def test_fleets_differ_in_dash_as_well_as_colour():
    frame = latency_frame({"colocated": np.array([0.1]), "disaggregated": np.array([0.2])}, FLEETS, None)
    spec = to_template(
        latency_distribution(
            frame, fleet_texts=FLEETS, x_title="TTFT (ms)", y_title="share", limit_text="limit"
        )
    )
    encoding = spec["layer"][0]["encoding"]
    assert len({str(dash) for dash in encoding["strokeDash"]["scale"]["range"]}) == 2
    assert len(set(encoding["color"]["scale"]["range"])) == 2
