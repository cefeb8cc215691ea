"""What a trace file brings into a scenario, and what has to be said about it."""

from dataclasses import dataclass, replace
from typing import Any

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.workload.requests import Requests
from pdexplorer.workload.traces import read_trace

_MOST_HIT = 0.999


@dataclass(frozen=True)
class Traced:
    """A scenario with what its trace says in it. notes: one line each. trace None: none was read."""

    scenario: Scenario
    trace: Requests | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What joins the JSON of an answer; nothing where no trace is named."""
        if self.trace is None:
            return {"trace": {"file": None, "notes": list(self.notes)}} if self.notes else {}
        found = {
            "file": self.scenario.workload.trace_file,
            "requests": len(self.trace),
            "dropped_rows": self.trace.dropped_rows,
            "mean_rate_per_s": mean_rate_per_s(self.trace),
            "prefix_data": self.trace.block_hashes is not None,
            "notes": list(self.notes),
        }
        return {"trace": found}


def mean_rate_per_s(trace: Requests) -> float | None:
    """Arrivals over the time they span; None for lengths only or a single moment."""
    span_s = float(trace.arrival_s[-1] - trace.arrival_s[0]) if trace.timed else 0.0
    return (len(trace) - 1) / span_s if span_s > 0 else None


def own_trace(scenario: Scenario) -> Traced:
    """The scenario with its own trace file's mean rate and lengths where it asks for them.

    ValueError, one line, for a file that is no trace, or one without arrivals where they are asked for.
    """
    work = scenario.workload
    kinds = (work.arrivals, work.input_distribution, work.output_distribution)
    if "trace" not in kinds:
        unread = (
            "workload.trace_file is not read: neither workload.arrivals, workload.input_distribution nor "
            "workload.output_distribution is trace"
        )
        return Traced(scenario, None, (unread,) if work.trace_file else ())
    trace = read_trace(work.trace_file)
    if work.arrivals == "trace" and mean_rate_per_s(trace) is None:
        what = "holds lengths only" if not trace.timed else "has all its requests at one moment"
        raise ValueError(
            f"trace {work.trace_file}: {what}, so there is no mean rate to size for; allowed with "
            "workload.arrivals = trace: a trace whose arrivals span some time"
        )
    return _filled(scenario, work.trace_file, trace, kinds)


def replayed(scenario: Scenario, file: str, window_s: tuple[float, float] | None) -> Traced:
    """The scenario with the file's arrivals, lengths and mean rate: the fleets are sized for it."""
    if not file.strip():
        raise ValueError("--trace is empty: allowed is the path of a trace file (CSV or JSON lines)")
    trace = read_trace(file, window_s)
    arrivals = "trace" if trace.timed else scenario.workload.arrivals
    found = _filled(scenario, file, trace, (arrivals, "trace", "trace"))
    if window_s is None:
        return found
    whole = read_trace(file)  # a scenario names a file, not a part of it
    note = (
        f"fleets are sized for the lengths of the whole file, {whole.input_tokens.mean():,.0f} in and "
        f"{whole.output_tokens.mean():,.0f} out on average"
    )
    return replace(found, notes=(*found.notes, note))


def _filled(scenario: Scenario, file: str, trace: Requests, kinds: tuple[str, str, str]) -> Traced:
    arrivals, inputs, outputs = kinds
    settings: dict[str, Any] = {
        "workload.trace_file": file,
        "workload.arrivals": arrivals,
        "workload.input_distribution": inputs,
        "workload.output_distribution": outputs,
    }
    rate_per_s = mean_rate_per_s(trace)
    if arrivals == "trace" and rate_per_s is not None:
        settings["workload.rate_per_s"] = rate_per_s
    for name, kind, tokens in (
        ("input", inputs, trace.input_tokens),
        ("output", outputs, trace.output_tokens),
    ):
        if kind == "trace":
            settings[f"workload.{name}_tokens"] = float(tokens.mean())
            settings[f"workload.{name}_p95_tokens"] = "auto"
    if inputs == "trace" and trace.block_hashes is not None:
        hit = min(float(trace.cached_tokens.sum() / trace.input_tokens.sum()), _MOST_HIT)
        settings["workload.prefix_hit_fraction"] = hit
        settings["workload.warm_fraction"] = max(float((trace.cached_tokens > 0).mean()), hit, 1e-6)
    changed, refused = apply_settings(scenario, settings)
    if refused:
        raise ValueError(f"{file}: {refused[0].text}")
    return Traced(changed, trace, tuple(_notes(changed, trace)))


def _notes(scenario: Scenario, trace: Requests) -> list[str]:
    work = scenario.workload
    rate_per_s = mean_rate_per_s(trace)
    notes = []
    if work.arrivals != "trace":
        notes.append(f"arrivals are the scenario's own, {work.arrivals}")
    elif rate_per_s is None:
        notes.append(
            "the trace has all its requests at one moment: fleets are sized for the scenario's "
            f"{work.rate_per_s:.4g}/s"
        )
    else:
        notes.append(f"fleets are sized for the trace's mean rate of {rate_per_s:.4g}/s")
    for name, kind, mean in (
        ("prompt", work.input_distribution, work.input_tokens),
        ("answer", work.output_distribution, work.output_tokens),
    ):
        whose = "the trace's" if kind == "trace" else "the scenario's own"
        notes.append(f"{name} lengths are {whose}, {mean:,.{0 if mean >= 100 else 1}f} tokens on average")
    if work.input_distribution == "trace" and trace.block_hashes is not None:
        hit = work.prefix_hit_fraction
        notes.append(f"prefix hits follow from the trace's block hashes: {hit:.1%} of prompt tokens")
    elif trace.block_hashes is None and work.prefix_hit_fraction > 0:
        hit = 100 * work.prefix_hit_fraction
        notes.append(f"the trace has no prefix data: the scenario's prefix hit of {hit:.4g}% is applied")
    if trace.dropped_rows:
        noun = "row" if trace.dropped_rows == 1 else "rows"
        notes.append(
            f"{trace.dropped_rows:,} {noun} of the file left out: a response of 0 tokens is how the trace "
            "writes a failed request"
        )
    return notes
