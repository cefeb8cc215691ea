import numpy as np

from pdexplorer.charts.gantt import gantt_frame
from pdexplorer.charts.series import series_frame
from pdexplorer.charts.stalls import stall_frame

FLEETS = {"colocated": "Together", "disaggregated": "Apart"}
PHASES = {phase: phase for phase in ("queue", "prefill", "kv_transfer", "wait", "decode")}
NAN = float("nan")


def times(**changed):
    own = {
        "arrival_s": 10.0,
        "prefill_start_s": 11.0,
        "prefill_end_s": 13.0,
        "transfer_start_s": 12.0,
        "transfer_end_s": 14.0,
        "first_token_s": 14.5,
        "finish_s": 20.0,
    }
    return own | changed


def test_phases_of_a_request_follow_each_other_without_a_gap():
    frame = gantt_frame({"disaggregated": times()}, FLEETS, PHASES)
    assert list(frame["phase"]) == ["queue", "prefill", "kv_transfer", "wait", "decode"]
    assert frame["start_s"].iloc[0] == 0.0
    assert np.allclose(frame["end_s"].iloc[:-1], frame["start_s"].iloc[1:])
    assert frame["end_s"].iloc[-1] == 10.0


def test_a_colocated_request_has_no_transfer_and_an_unfinished_one_no_decode():
    here = times(transfer_start_s=NAN, transfer_end_s=NAN, first_token_s=13.0, finish_s=NAN)
    frame = gantt_frame({"colocated": here}, FLEETS, PHASES)
    assert list(frame["phase"]) == ["queue", "prefill"]


def test_the_share_of_long_gaps_falls_to_the_longest():
    edges, gaps = np.array([0.01, 0.02, 0.5]), np.array([90, 9, 1])
    frame = stall_frame({"colocated": (edges, gaps)}, FLEETS)
    assert list(frame["gap_ms"]) == [10.0, 20.0, 500.0]
    assert np.allclose(frame["share"], [1.0, 0.1, 0.01])


def test_many_bins_are_thinned_and_the_longest_gap_is_kept():
    edges = np.arange(1, 5001) * 1e-4
    gaps = np.maximum(10_000 // np.arange(1, 5001), 1)
    frame = stall_frame({"colocated": (edges, gaps)}, FLEETS)
    assert len(frame) < 400
    assert frame["gap_ms"].iloc[-1] == 500.0


def test_a_colocated_fleet_has_no_link_to_draw():
    own = {name: np.arange(5.0) for name in ("time_s", "waiting", "batch", "kv_fraction", "link_fraction")}
    panels = {panel: panel for panel in ("waiting", "batch", "kv_fraction", "link_fraction")}
    frame = series_frame({"colocated": own, "disaggregated": own}, FLEETS, panels)
    link = frame[frame["panel"] == "link_fraction"]
    assert set(link["fleet"]) == {"Apart"}
    assert link["value"].max() == 400.0  # shares are drawn in percent
