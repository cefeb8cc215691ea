"""What `evaluate` and `simulate` print for people: the verdict in words, then two columns with units."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pdexplorer.cli.lists import print_table
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.headline import in_numbers
from pdexplorer.study.words import shape_text
from pdexplorer.verdict import told_flips, told_reasons

Answer = Mapping[str, Any]
_WIDTH = 100
_FLEETS = ("colocated", "disaggregated")
_SOURCE = re.compile(r"(?P<what>.*?): (?P<kind>datasheet|published|measured|fitted|derived|assumed|user)\b")
_BUSY = {"instances": "GPUs", "prefill": "P", "decode": "D", "link": "link", "kv_memory": "KV memory"}
_PARTS = ("prefill", "decode", "kv_transfer", "scheduling_idle", "total")


def print_evaluation(title: str, evaluation: Evaluation, notes: Sequence[str] = ()) -> None:
    """What a trace brought in (notes), verdict, because, but, flips, both fleets, cost in parts, sources."""
    answer = evaluation.to_json()
    verdict = answer["verdict"]
    print(f"{title}\n")
    _print_notes(notes)
    _wrapped("", str(verdict["sentence"]))
    because, but = ("; ".join(r.text.rstrip(".") for r in side) for side in told_reasons(evaluation.verdict))
    for lead, reasons in (("because   ", because or in_numbers(answer).rstrip(".")), ("but       ", but)):
        if reasons:
            _wrapped(lead, f"{reasons}.")
    if verdict["vetoes"]:
        _wrapped("held back by  ", "; ".join(verdict["vetoes"]) + ".")
    flips = [flip.text for flip in told_flips(evaluation.verdict)]
    able = answer["colocated"]["feasible"] or answer["disaggregated"]["feasible"]
    if flips or (able and not verdict["undecided"]):
        _wrapped(
            "flips     ", ", ".join(flips) + "." if flips else "nothing in the inputs' range changes this."
        )
    if verdict["confidence_text"]:
        _wrapped("how sure  ", verdict["confidence_text"])
    print()
    _print_fleets(answer)
    if evaluation.sources:
        _print_sources(evaluation.sources)


def print_simulation(title: str, answers: Answer, notes: Sequence[str] = ()) -> None:
    """What a trace brought in (notes), the replayed fleets, and how many requests came through."""
    print(f"{title}\n")
    _print_notes(notes)
    _print_fleets(answers)
    for name in _FLEETS:
        if name in answers and answers[name]["infeasible"] is not None:
            _wrapped(f"{name} cannot: ", answers[name]["infeasible"]["text"])


def _print_notes(notes: Sequence[str]) -> None:
    if notes:
        _wrapped("trace     ", "; ".join(notes) + ".")
        print()


def _print_fleets(answers: Answer) -> None:
    fleets = [name for name in _FLEETS if name in answers]
    sides = [answers[name] for name in fleets]
    kinds = [str(side["kind"]) for side in sides]

    def row(label: str, unit: str, values: Sequence[str]) -> tuple[str, ...]:
        return (label, unit, *values)

    rows = [
        row("design", "", [_design(side["design"]) for side in sides]),
        row("instances", "", [_instances(side["instances"]) for side in sides]),
        row("GPUs", "", [_number(side["gpus"]) for side in sides]),
        row("goodput", "/s", [_number(side["goodput_per_s"]) for side in sides]),
        row("SLO attainment", "%", [_number(side["attainment_fraction"], 100) for side in sides]),
        *(
            row(f"{name} P50/P95/P99", unit, [_percentiles(side[key], scale) for side in sides])
            for name, key, unit, scale in (
                ("TTFT", "ttft_s", "ms", 1e3),
                ("TPOT", "tpot_s", "ms", 1e3),
                ("ITL", "itl_s", "ms", 1e3),
                ("end to end", "e2e_s", "s", 1.0),
                ("KV wait", "kv_exposed_s", "ms", 1e3),  # streamed or not, estimated or simulated alike
            )
        ),
        row("bottleneck", "", [str(side["bottleneck"] or "-") for side in sides]),
        row("busy", "%", [_busy(side["utilisation"]) for side in sides]),
        row("fleet cost", "$/h", [_number(side["cost_usd_per_hour"]) for side in sides]),
        row("cost", "$/M tokens", [_number(side["cost_usd_per_million_tokens"]) for side in sides]),
        *(
            row(f"  {part.replace('_', ' ')}", "$/1,000 requests", [_part(side, part) for side in sides])
            for part in _PARTS
        ),
    ]
    if all("requests" in side for side in sides):
        rows.insert(
            0, row("completed", "requests", [f"{s['completed']:,} of {s['requests']:,}" for s in sides])
        )
        rows.insert(1, row("simulated", "s", [_number(side["simulated_s"]) for side in sides]))
    print_table(("", "", *fleets), [("", "", *kinds), *rows], text_columns=(0, 1))
    for name, side in zip(fleets, sides, strict=True):
        if side["money_note"]:
            _wrapped(f"{name} prices: ", side["money_note"])


def _part(side: Answer, part: str) -> str:
    parts = side["cost_per_request_usd"] or {}
    return _number(parts.get(part), 1e3)


def _percentiles(values: Answer | None, scale: float) -> str:
    if not values or all(value is None for value in values.values()):
        return "-"
    return " / ".join(_number(values[p], scale) for p in ("p50", "p95", "p99"))


def _instances(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value['prefill']}P + {value['decode']}D"
    return "-" if value is None else str(value)


def _busy(utilisation: Answer | None) -> str:
    found = {label: (utilisation or {}).get(name) for name, label in _BUSY.items()}
    return ", ".join(f"{name} {value * 100:.0f}" for name, value in found.items() if value is not None) or "-"


def _design(design: Mapping[str, Any]) -> str:
    if "accelerator" in design:
        shape = shape_text(design["tp"], design["pp"])
        return f"{design['accelerator']} {shape}, chunks {design['chunk_tokens']:,}"
    if "prefill" in design:
        shapes = {
            role: shape_text(design[f"{role}_tp"], design[f"{role}_pp"]) for role in ("prefill", "decode")
        }
        return " > ".join(f"{design[role]} {shape}" for role, shape in shapes.items())
    return "-"


def _print_sources(sources: Sequence[str]) -> None:
    """What the answer rests on, grouped by kind; citations are left to the catalogue."""
    groups: dict[str, list[str]] = {}
    for source in sources:
        found = _SOURCE.match(source)
        kind, what = (found["kind"], found["what"]) if found else ("also", source)
        groups.setdefault(kind, []).append(what)
    print("\nrests on (pdexplorer catalog accelerators|models|networks --json has each source)")
    for kind, what in groups.items():
        _wrapped(f"  {kind:<10}", "; ".join(what))


def _number(value: float | None, scale: float = 1.0) -> str:
    if value is None:
        return "-"
    number = value * scale
    if number and abs(number) < 1e-3:
        return f"{number:.2g}"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _wrapped(lead: str, text: str) -> None:
    print(textwrap.fill(text, _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead)))
