"""The answer's numbers as rows of texts: both fleets side by side, and the four parts of a request's cost."""

from collections.abc import Mapping
from typing import Any

from pdexplorer.export.report import FLEETS, Report
from pdexplorer.study.words import number, percent, seconds, shape_text
from pdexplorer.texts.formats import unit_text
from pdexplorer.texts.verdict_words import flip_label

Row = tuple[str, ...]

PARTS = ("prefill", "decode", "kv_transfer", "scheduling_idle")
"""Parts of a request's cost, in their fixed order."""

_NONE = "–"
_REQUESTS = 1000
_MOST_SENSITIVE = 8


def fleet_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: what each fleet is, and what it does with the demand."""
    sides = [report.answer[fleet] for fleet in FLEETS]
    text = report.text
    rows: list[Row] = [
        (text("design"), *(design_text(report, side["design"]) for side in sides)),
        (text("row_instances"), *(_instances(side["instances"]) for side in sides)),
        (text("gpus"), *(_shown(side["gpus"], number) for side in sides)),
        ("TTFT P95", *(_shown(side["ttft_s"]["p95"], seconds) for side in sides)),
        ("TPOT P95", *(_shown(side["tpot_s"]["p95"], seconds) for side in sides)),
        ("ITL P99", *(_shown(side["itl_s"]["p99"], seconds) for side in sides)),
        (text("e2e"), *(_shown(side["e2e_s"]["p95"], seconds) for side in sides)),
        (text("kv"), *(_shown(side["kv_transfer_s"]["p95"], seconds) for side in sides)),
        (
            text("attained", percentile=number(report.scenario.slo.percentile)),
            *(_shown(side["attainment_fraction"], percent) for side in sides),
        ),
        (text("goodput"), *(_shown(side["goodput_per_s"], number) for side in sides)),
        (text("bottleneck"), *(_bottleneck(report, side) for side in sides)),
        (text("fleet_cost"), *(_shown(side["cost_usd_per_hour"], _dollars) for side in sides)),
        (text("per_million"), *(_shown(side["cost_usd_per_million_tokens"], number) for side in sides)),
    ]
    return ("", *report.fleet_names.values()), [row for row in rows if set(row[1:]) != {_NONE}]


def _bottleneck(report: Report, side: Mapping[str, Any]) -> str:
    key = side["bottleneck"]
    return report.texts.choice("bottleneck", str(key)) if key else _NONE


def _unit(report: Report, unit: str) -> str:
    """As the page writes it; money and rates keep their signs in English."""
    return report.texts.choice("unit", unit_text(unit) if report.language == "zh" else unit)


def cost_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: cost of a thousand requests in its four parts and in total, in the scenario's currency.
    No rows where no fleet has a cost."""
    money = report.scenario.money
    scale = _REQUESTS * money.currency_per_usd
    costs = [report.answer[fleet]["cost_per_request_usd"] or {} for fleet in FLEETS]
    names = {**part_names(report), "total": report.text("total")}
    rows: list[Row] = []
    for part, name in names.items():
        cells = []
        for cost in costs:
            value, total = cost.get(part), cost.get("total")
            share = f" ({percent(value / total)})" if value and total and part != "total" else ""
            cells.append(_NONE if value is None else f"{number(value * scale)}{share}")
        rows.append((name, *cells))
    head = (report.texts.text("cost.axis", currency=money.currency), *report.fleet_names.values())
    return head, rows if any(cost.get("total") is not None for cost in costs) else []


def part_names(report: Report) -> dict[str, str]:
    """What the four parts are called, in their fixed order."""
    return {part: report.texts.text(f"part.{part}") for part in PARTS}


def flip_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: where along each setting the answer flips, nearest first."""
    rows: list[Row] = []
    for flip in report.flips:
        here = _NONE if flip.here is None else _value(flip.key, flip.here)
        unit = "" if flip.key.endswith("_fraction") else _unit(report, flip.unit)
        away = _NONE if not flip.here or flip.here < 0 else f"{number(flip.value / flip.here)}×"
        there = number(flip.value, 2) if flip.unit == "tokens" else _value(flip.key, flip.value)
        rows.append((flip.text, here, there, unit, away))
    return tuple(report.text(name) for name in ("beyond", "here", "there", "unit", "away")), rows


def sensitivity_table(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: the gain where one input moves and the others stay, widest first."""
    found = report.sensitivity
    gain = report.text("gain")
    if found is not None:
        gain = report.text("gain_in", basis=report.text(f"ratio.{found.gain_key}"))
    head = (gain, *(report.text(name) for name in ("from", "to", "gain_from", "gain_to", "step")))
    if found is None:
        return head, []
    rows: list[Row] = [
        (
            setting_name(report, row.key, row.label),
            _value(row.key, row.low_value),
            f"{_value(row.key, row.high_value)} {_unit(report, row.unit)}".rstrip(),
            _shown(row.gain_low, _times),
            _shown(row.gain_high, _times),
            report.texts.said(row.step),
        )
        for row in found.rows[:_MOST_SENSITIVE]
    ]
    return head, rows


def summary_table(report: Report) -> tuple[Row, list[Row]]:
    """The few rows that fit a chat message."""
    head, rows = fleet_table(report)
    names = {"TTFT P95", "TPOT P95", *(report.text(name) for name in ("design", "gpus", "fleet_cost"))}
    kept = [row for row in rows if row[0] in names]
    cost_head, costs = cost_table(report)
    return head, [*kept, *((f"{cost_head[0]}", *row[1:]) for row in costs if row[0] == report.text("total"))]


def setting_name(report: Report, key: str, label: str) -> str:
    """What an input is called within a table; label: what the model calls it."""
    name = flip_label(report.texts, key)
    return report.texts.said(label) if name == key else name


def design_text(report: Report, design: Mapping[str, Any]) -> str:
    """One fleet's design in a few words."""
    if "accelerator" in design:
        tokens = f"{design['chunk_tokens']:,}"
        shape = shape_text(design["tp"], design["pp"])
        return report.text("chunks", accelerator=design["accelerator"], shape=shape, tokens=tokens)
    if "prefill" in design:
        pools = [
            f"{design[role]} {shape_text(design[f'{role}_tp'], design[f'{role}_pp'])}"
            for role in ("prefill", "decode")
        ]
        return f"{pools[0]} → {pools[1]}"
    return _NONE


def cannot_lines(report: Report) -> list[str]:
    """For each fleet that cannot, the limit that stops it, where the headline does not say so; for each
    without money, which price is missing."""
    lines = []
    for fleet in FLEETS:
        called, why, note = (
            report.fleet_names[fleet],
            report.limit_by_fleet.get(fleet),
            report.answer[fleet]["money_note"],
        )
        if why is not None and why not in report.headline:
            lines.append(report.text("cannot", fleet=called, why=why))
        if note:
            lines.append(report.text("prices", fleet=called, note=note))
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
