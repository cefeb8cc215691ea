"""The answer's numbers as rows of texts: both fleets side by side, and the four parts of a request's cost."""

from collections.abc import Mapping
from typing import Any

from pdexplorer.export.report import FLEET_NAMES, FLEETS, Report
from pdexplorer.study.words import RATIO, number, percent, seconds

Row = tuple[str, ...]

PART_NAMES: Mapping[str, str] = {
    "prefill": "Prefill",
    "decode": "Decode",
    "kv_transfer": "KV transfer",
    "scheduling_idle": "Scheduling + idle",
}
_NONE = "–"
_REQUESTS = 1000
_MOST_SENSITIVE = 8


def fleet_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: what each fleet is, and what it does with the demand."""
    sides = [report.answer[fleet] for fleet in FLEETS]
    attained = f"Requests within every limit (wanted {number(report.scenario.slo.percentile)}%)"
    rows: list[Row] = [
        ("Design", *(design_text(side["design"]) for side in sides)),
        ("Instances", *(_instances(side["instances"]) for side in sides)),
        ("GPUs", *(_shown(side["gpus"], number) for side in sides)),
        ("TTFT P95", *(_shown(side["ttft_s"]["p95"], seconds) for side in sides)),
        ("TPOT P95", *(_shown(side["tpot_s"]["p95"], seconds) for side in sides)),
        ("ITL P99", *(_shown(side["itl_s"]["p99"], seconds) for side in sides)),
        ("End to end P95", *(_shown(side["e2e_s"]["p95"], seconds) for side in sides)),
        ("KV transfer P95", *(_shown(side["kv_transfer_s"]["p95"], seconds) for side in sides)),
        (attained, *(_shown(side["attainment_fraction"], percent) for side in sides)),
        ("Goodput, requests/s", *(_shown(side["goodput_per_s"], number) for side in sides)),
        ("Bottleneck", *(str(side["bottleneck"] or _NONE) for side in sides)),
        ("Fleet cost, USD/h", *(_shown(side["cost_usd_per_hour"], _dollars) for side in sides)),
        ("USD per million tokens", *(_shown(side["cost_usd_per_million_tokens"], number) for side in sides)),
    ]  # fmt: skip
    return ("", *FLEET_NAMES.values()), [row for row in rows if set(row[1:]) != {_NONE}]


def cost_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: cost of a thousand requests in its four parts and in total, in the scenario's currency.
    No rows where no fleet has a cost."""
    money = report.scenario.money
    scale = _REQUESTS * money.currency_per_usd
    costs = [report.answer[fleet]["cost_per_request_usd"] or {} for fleet in FLEETS]
    names = {**PART_NAMES, "total": "Total"}
    rows: list[Row] = []
    for part, name in names.items():
        cells = []
        for cost in costs:
            value, total = cost.get(part), cost.get("total")
            share = f" ({percent(value / total)})" if value and total and part != "total" else ""
            cells.append(_NONE if value is None else f"{number(value * scale)}{share}")
        rows.append((name, *cells))
    head = (f"{money.currency} per 1,000 requests", *FLEET_NAMES.values())
    return head, rows if any(cost.get("total") is not None for cost in costs) else []


def flip_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: where along each setting the answer flips, nearest first."""
    rows: list[Row] = []
    for flip in report.flips:
        here = _NONE if flip.here is None else _value(flip.key, flip.here)
        unit = "" if flip.key.endswith("_fraction") else flip.unit
        away = _NONE if not flip.here or flip.here < 0 else f"{number(flip.value / flip.here)}×"
        rows.append((flip.text, here, _value(flip.key, flip.value), unit, away))
    return ("Beyond the break-even", "here", "there", "unit", "there ÷ here"), rows


def sensitivity_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: the gain where one input moves and the others stay, widest first."""
    found = report.sensitivity
    basis = "gain" if found is None else f"gain in {RATIO[found.gain_key]}"
    head = (f"{basis}, one input moved", "from", "to", "gain from", "gain to", "step")
    if found is None:
        return head, []
    rows: list[Row] = [
        (
            row.label,
            _value(row.key, row.low_value),
            f"{_value(row.key, row.high_value)} {row.unit}".rstrip(),
            _shown(row.gain_low, _times),
            _shown(row.gain_high, _times),
            row.step,
        )
        for row in found.rows[:_MOST_SENSITIVE]
    ]
    return head, rows


def summary_table(report: Report) -> tuple[Row, list[Row]]:
    """The few rows that fit a chat message."""
    head, rows = fleet_table(report)
    kept = [row for row in rows if row[0] in ("Design", "GPUs", "TTFT P95", "TPOT P95", "Fleet cost, USD/h")]
    cost_head, costs = cost_table(report)
    return head, [*kept, *((f"{cost_head[0]}", *row[1:]) for row in costs if row[0] == "Total")]


def design_text(design: Mapping[str, Any]) -> str:
    """One fleet's design in a few words."""
    if "accelerator" in design:
        return f"{design['accelerator']} TP{design['tp']}, chunks of {design['chunk_tokens']:,}"
    if "prefill" in design:
        pools = [f"{design[role]} TP{design[f'{role}_tp']}" for role in ("prefill", "decode")]
        return f"{pools[0]} → {pools[1]}"
    return _NONE


def cannot_lines(report: Report) -> list[str]:
    """For each fleet that cannot, the limit that stops it, where the headline does not say so; for each
    without money, which price is missing."""
    lines = []
    for fleet in FLEETS:
        side = report.answer[fleet]
        if side["infeasible"] is not None and side["infeasible"]["text"] not in report.headline:
            lines.append(f"{FLEET_NAMES[fleet]} cannot: {side['infeasible']['text']}.")
        if side["money_note"]:
            lines.append(f"{FLEET_NAMES[fleet]}, prices: {side['money_note']}.")
    return lines


def _instances(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value['prefill']}P + {value['decode']}D"
    return _NONE if value is None else str(value)


def _shown(value: float | None, how: Any) -> str:
    return _NONE if value is None else str(how(value))


def _times(value: float) -> str:
    return f"{number(value)}×"


def _dollars(value: float) -> str:
    return number(value, 4)


def _value(key: str, value: float) -> str:
    return percent(value) if key.endswith("_fraction") else number(value)
