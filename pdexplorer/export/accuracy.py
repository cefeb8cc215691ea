"""How far the numbers of one answer can be trusted, from the fits they rest on."""

from collections.abc import Iterable

from pdexplorer.catalog.efficiency import Fit
from pdexplorer.export.report import Report
from pdexplorer.study.words import number, percent

LIMITS = (
    "Every number here is estimated by a closed form of queues and batches over fitted step times; none was "
    "measured on your machines.",
    "Not modelled: hybrid routing, speculative decoding, LoRA, multimodal encoders, software faults and "
    "operations, quality effects of number formats.",
    "Below a ratio of 1.3 the error of any such model is as large as the gain: measure both before "
    "you build.",
)
"""What holds for every answer."""


def accuracy_lines(report: Report) -> list[str]:
    """The limits of every answer, then how well the step times behind this one met the steps they were fitted
    to, and how sure the verdict is."""
    lines = list(LIMITS)
    verdict = report.answer["verdict"]
    confidence = verdict["confidence"]
    if confidence is not None:
        interval = verdict.get("gain_interval")
        between = (
            ""
            if interval is None
            else f"; 90% of their ratios lie in {number(interval[0])}–{number(interval[1])}"
        )
        lines.append(
            f"{percent(confidence)} of draws over the efficiencies' spread decide the same{between}."
        )
    for (system, points), parts in _fitted(report).items():
        errors = ", ".join(f"{part} {_errors(fit)}" for part, fit in parts.items())
        lines.append(f"Step times of {system}, fitted to {points:,} measured points; median error: {errors}.")
    assumed = {f"{part} of {fit.accelerator}" for part, fit in _parts(report) if fit.kind != "fitted"}
    if assumed:
        lines.append(f"Not fitted on this hardware but taken from: {', '.join(sorted(assumed))}.")
    return lines


def _fitted(report: Report) -> dict[tuple[str, int], dict[str, Fit]]:
    found: dict[tuple[str, int], dict[str, Fit]] = {}
    for part, fit in _parts(report):
        if fit.kind == "fitted" and fit.median_error_fraction is not None:
            system = f"{fit.accelerator} with {fit.engine}, {fit.format}"
            found.setdefault((system, fit.points), {})[part] = fit
    return found


def _parts(report: Report) -> Iterable[tuple[str, Fit]]:
    one, split = report.evaluation.colocated_fleet, report.evaluation.disaggregated_fleet
    instances = [] if one is None else [one.instance]
    instances += [] if split is None else [split.prefill, split.decode]
    for instance in instances:
        efficiency = instance.efficiency
        yield "weights", efficiency.gemm.fit
        yield "head", efficiency.head.fit
        yield "attention", efficiency.attention.fit
        if instance.architecture.experts:
            yield "experts", efficiency.experts.fit
        if instance.parallelism.gpus > 1:
            yield "collectives", efficiency.collective.fit
        yield "elementwise", efficiency.elementwise.fit


def _errors(fit: Fit) -> str:
    assert fit.median_error_fraction is not None
    tail = "" if fit.p90_error_fraction is None else f" (P90 {percent(fit.p90_error_fraction)})"
    return f"{percent(fit.median_error_fraction)}{tail}"
