"""How far the numbers of one answer can be trusted, from the fits they rest on."""

from collections.abc import Iterable

from pdexplorer.catalog.efficiency import Fit
from pdexplorer.export.report import Report
from pdexplorer.study.words import number, percent
from pdexplorer.texts.catalogue import left_out


def accuracy_lines(report: Report) -> list[str]:
    """The limits of every answer, then how well the step times behind this one met the steps they were fitted
    to, and how sure the verdict is."""
    lines = [
        report.text("estimated_only"),
        *(report.text("not_modelled", what=what) for what in left_out(report.texts)),
        report.text("below_line"),
    ]
    verdict = report.answer["verdict"]
    confidence = verdict["confidence"]
    if confidence is not None:
        interval = verdict.get("gain_interval")
        told = {"percent": percent(confidence)}
        if interval is None:
            lines.append(report.text("draws", **told))
        else:
            low, high = (number(end) for end in interval)
            lines.append(report.text("draws_within", low=low, high=high, **told))
    for (system, points), parts in _fitted(report).items():
        errors = ", ".join(f"{part} {_errors(fit)}" for part, fit in parts.items())
        lines.append(report.text("fit", system=system, points=f"{points:,}", errors=errors))
    assumed = {f"{part} of {fit.accelerator}" for part, fit in _parts(report) if fit.kind != "fitted"}
    if assumed:
        lines.append(report.text("not_fitted", parts=", ".join(sorted(assumed))))
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
