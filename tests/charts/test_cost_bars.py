import pytest

from pdexplorer.charts.cost_bars import COLUMNS, cost_bars, cost_frame, money_text
from pdexplorer.charts.theme import PARTS

PART_TEXTS = {
    "prefill": "Prefill",
    "decode": "Decode",
    "kv_transfer": "KV transfer",
    "scheduling_idle": "Idle",
}
FLEET_TEXTS = {"colocated": "Colocated", "disaggregated": "Disaggregated"}
COSTS = {
    "colocated": {
        "prefill": 1e-3,
        "decode": 2e-3,
        "kv_transfer": 0.0,
        "scheduling_idle": 1e-3,
        "total": 4e-3,
    },
    "disaggregated": {
        "prefill": 1e-3,
        "decode": 1e-3,
        "kv_transfer": 5e-5,
        "scheduling_idle": 9.5e-4,
        "total": 3e-3,
    },
}


def test_segments_meet_and_end_at_the_total():
    frame = cost_frame(COSTS, FLEET_TEXTS, PART_TEXTS)
    assert tuple(frame.columns) == COLUMNS
    for _, rows in frame.groupby("fleet"):
        parts = rows[rows["row"] == "part"]
        assert list(parts["part"]) == list(PARTS)
        assert list(parts["start"])[1:] == pytest.approx(list(parts["end"])[:-1])
        assert parts["end"].iloc[-1] == pytest.approx(rows.loc[rows["row"] == "total", "cost"].iloc[0])


def test_cost_is_per_thousand_requests_in_the_display_currency():
    frame = cost_frame(COSTS, FLEET_TEXTS, PART_TEXTS, currency_per_usd=7.1)
    total = frame[(frame["row"] == "total") & (frame["fleet"] == "Colocated")]["cost"].iloc[0]
    assert total == pytest.approx(4e-3 * 1000 * 7.1)


def test_a_sliver_has_no_label():
    frame = cost_frame(COSTS, FLEET_TEXTS, PART_TEXTS)
    transfer = frame[(frame["part"] == "kv_transfer") & (frame["fleet"] == "Disaggregated")]
    assert transfer["label"].iloc[0] == ""


def test_colours_and_order_of_the_parts_are_fixed():
    spec = cost_bars(part_texts=PART_TEXTS, axis_title="USD")
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["range"] == ["#0072B2", "#009E73", "#E69F00", "#CC79A7"]
    assert scale["domain"] == ["Prefill", "Decode", "KV transfer", "Idle"]


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (0.04213, "0.0421"), (2.4, "2.40"), (123.4, "123"), (12345.6, "12,346")]
)
def test_money_has_three_digits(value, shown):
    assert money_text(value) == shown
