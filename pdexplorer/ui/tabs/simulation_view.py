"""What a run of the simulator shows: distributions, stalls, queues over time, one request, all figures."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pdexplorer.charts import gantt, latency, series, stalls
from pdexplorer.charts.template import to_template
from pdexplorer.metrics.late_cause import LateCause
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.texts.formats import number, percent, seconds_text
from pdexplorer.ui.chart import chart
from pdexplorer.ui.chart_key import heading
from pdexplorer.ui.figures import fleet_texts
from pdexplorer.ui.tabs.studies import table
from pdexplorer.ui.texts import choice_text, language, text
from pdexplorer.ui.work.replay import FleetReplay, Replay, ReplayResult

_QUANTILES = (0.5, 0.95, 0.99)
_PANELS = series.PANELS


def show_replay(result: ReplayResult, wanted: Replay, scenario: Scenario) -> None:
    """Everything about one run."""
    key = "simulation.trace_summary" if wanted.trace else "simulation.summary"
    st.markdown(
        text(
            key,
            requests=number(wanted.requests),
            seed=wanted.seed,
            scale=number(wanted.rate_scale),
            seconds=number(max(fleet.simulated_s for fleet in result.fleets.values())),
        )
    )
    online, slo = scenario.workload.mode == "online", scenario.slo
    tpot_s = slo.tpot_ms / 1e3 if online and slo.tpot_ms is not None else None
    left, right = st.columns(2)
    with left:
        _distribution("TTFT", {n: f.ttft_s for n, f in result.fleets.items()}, slo.ttft_s if online else None)
    with right:
        _distribution("TPOT", {n: f.tpot_s for n, f in result.fleets.items()}, tpot_s)
    for name, fleet in result.fleets.items():
        if fleet.late is not None:
            st.markdown(late_text(name, fleet.late))
    _stalls(result)
    _series(result)
    _one_request(result)
    table(metric_frame(result.outcomes).to_dict("records"))


def late_text(fleet: str, late: LateCause) -> str:
    """Why a fleet's first tokens came late, in one sentence."""
    return text(
        "simulation.late",
        fleet=text(f"fleet.{fleet}"),
        late=number(late.late_requests),
        cause=text(f"late.{late.cause}"),
        excess=seconds_text(late.excess_s),
    )


def metric_frame(outcomes: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """A row a metric with its unit, a column a fleet. outcomes: fleets as `simulate --json` writes them."""
    rows: list[tuple[str, dict[str, str]]] = []
    for key in ("ttft_s", "tpot_s", "itl_s", "e2e_s"):
        unit, scale = ("s", 1.0) if key == "e2e_s" else ("ms", 1e3)
        for p in ("p50", "p95", "p99"):
            values = {f: (o.get(key) or {}).get(p) for f, o in outcomes.items()}
            label = f"{text(f'latency.{key}')} {p.upper()} ({unit})"
            rows.append((label, {f: _scaled(v, scale) for f, v in values.items()}))
    for key in ("goodput_per_s", "attainment_fraction", "cost_usd_per_million_tokens"):
        values = {f: o.get(key) for f, o in outcomes.items()}
        share = key.endswith("fraction")
        cells = {f: "–" if v is None else percent(v) if share else _scaled(v, 1.0) for f, v in values.items()}
        rows.append((text(f"simulation.{key}"), cells))
    for fleet, outcome in outcomes.items():
        for part, value in (outcome.get("utilisation") or {}).items():
            if value is not None:
                shown = number(value) if part == "batch" else percent(value)
                cells = {f: shown if f == fleet else "–" for f in outcomes}
                label = text("simulation.use", fleet=text(f"fleet.{fleet}"), part=choice_text("use", part))
                rows.append((label, cells))
    head = text("simulation.metric")
    return pd.DataFrame(
        [{head: label, **{text(f"fleet.{f}"): v for f, v in cells.items()}} for label, cells in rows]
    )


def _scaled(value: float | None, scale: float) -> str:
    return "–" if value is None else number(float(value) * scale)


def _distribution(what: str, values_s: Mapping[str, Any], limit_s: float | None) -> None:
    sentences = []
    for fleet, values in values_s.items():
        kept = np.asarray(values)[np.isfinite(values)]
        if kept.size:
            p50, p95, p99 = (number(float(v) * 1e3) for v in np.quantile(kept, _QUANTILES))
            sentences.append(
                text("simulation.latency_alt_fleet", fleet=text(f"fleet.{fleet}"), p50=p50, p95=p95, p99=p99)
            )
    limit = "" if limit_s is None else text("simulation.limit", value=f"{number(limit_s * 1e3)} ms")
    chart(
        latency.latency_frame(values_s, fleet_texts(), limit_s),
        _latency_template(what.lower(), limit, language()),
        alt=text("simulation.latency_alt", what=what, parts=" ".join(sentences)),
        key=f"chart.{what.lower()}",
    )


def _stalls(result: ReplayResult) -> None:
    st.markdown(f"**{text('simulation.stalls')}**")
    worst = ", ".join(
        f"{text(f'fleet.{name}')} {number(_longest_s(fleet) * 1e3)} ms"
        for name, fleet in result.fleets.items()
        if fleet.itl_gaps.sum()
    )
    chart(
        stalls.stall_frame({n: (f.itl_bin_s, f.itl_gaps) for n, f in result.fleets.items()}, fleet_texts()),
        _stalls_template(language()),
        alt=text("simulation.stalls_alt", worst=worst),
        key="chart.stalls",
    )


def _longest_s(fleet: FleetReplay) -> float:
    return float(fleet.itl_bin_s[np.flatnonzero(fleet.itl_gaps)[-1]])


def _series(result: ReplayResult) -> None:
    st.markdown(f"**{text('simulation.over_time')}**")
    panels = {panel: text(f"simulation.{panel}") for panel in _PANELS}
    peaks = ", ".join(
        f"{text(f'fleet.{name}')} {number(float(np.max(fleet.series['waiting'], initial=0)))}"
        for name, fleet in result.fleets.items()
    )
    frame = series.series_frame({n: f.series for n, f in result.fleets.items()}, fleet_texts(), panels)
    columns = st.columns(2)
    for position, (panel, words) in enumerate(panels.items()):
        with columns[position % 2]:
            chart(
                frame[frame["panel"] == words],
                _series_template(panel, language()),
                alt=text("simulation.over_time_alt", what=words, peaks=peaks),
                key=f"chart.series.{panel}",
            )


def _one_request(result: ReplayResult) -> None:
    count = min(len(fleet.times["arrival_s"]) for fleet in result.fleets.values())
    words, box = st.columns([4, 1], vertical_alignment="bottom")
    words.markdown(f"**{text('simulation.request_title')}**")
    chosen = box.number_input(
        text("simulation.request"), 0, count - 1, _slowest(result), key="simulation.request"
    )
    times = {
        name: {column: float(values[int(chosen)]) for column, values in fleet.times.items()}
        for name, fleet in result.fleets.items()
    }
    phases = phase_texts()
    frame = gantt.gantt_frame(times, fleet_texts(), phases)
    said = "; ".join(
        f"{row.fleet} {row.phase_text} {number(float(str(row.length_s)))} s" for row in frame.itertuples()
    )
    st.html(heading("", gantt.PHASES, phases))
    chart(
        frame, _gantt_template(language()), alt=text("simulation.request_alt", parts=said), key="chart.gantt"
    )


def phase_texts() -> dict[str, str]:
    """The phases of a request by key, in their order."""
    return {phase: text(f"phase.{phase}") for phase in gantt.PHASES}


def _slowest(result: ReplayResult) -> int:
    """The request with the longest TTFT where the difference between fleets shows."""
    times = list(result.fleets.values())[-1].times
    ttft = times["first_token_s"] - times["arrival_s"]
    return int(np.nanargmax(ttft)) if np.isfinite(ttft).any() else 0


@st.cache_resource(max_entries=32, show_spinner=False)
def _latency_template(what: str, limit_text: str, language: str) -> dict[str, Any]:
    return to_template(
        latency.latency_distribution(
            pd.DataFrame({column: [] for column in latency.COLUMNS}),
            fleet_texts=fleet_texts(),
            x_title=text(f"simulation.{what}_x"),
            y_title=text("simulation.cdf_y"),
            limit_text=limit_text,
        )
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _stalls_template(language: str) -> dict[str, Any]:
    return to_template(
        stalls.stall_curve(
            pd.DataFrame({column: [] for column in stalls.COLUMNS}),
            fleet_texts=fleet_texts(),
            x_title=text("simulation.gap_x"),
            y_title=text("simulation.gap_y"),
        )
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _series_template(panel: str, language: str) -> dict[str, Any]:
    return to_template(
        series.time_series(
            pd.DataFrame({column: [] for column in series.COLUMNS}),
            fleet_texts=fleet_texts(),
            panel=text(f"simulation.{panel}"),
            time_title=text("simulation.time"),
        )
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _gantt_template(language: str) -> dict[str, Any]:
    return to_template(
        gantt.request_gantt(
            pd.DataFrame({column: [] for column in gantt.COLUMNS}),
            phase_texts=phase_texts(),
            x_title=text("simulation.since_arrival"),
        )
    )
