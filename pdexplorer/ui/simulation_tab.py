"""Single requests through both fleets: the tails that the closed form only estimates, simulated."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pdexplorer.charts.latency import COLUMNS, latency_distribution, latency_frame
from pdexplorer.charts.template import to_template
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.figures import FLEETS, fleet_texts
from pdexplorer.ui.formats import number, percent
from pdexplorer.ui.replay import Replay, ReplayResult, replay
from pdexplorer.ui.texts import language, plain, said, text
from pdexplorer.ui.trace_input import trace_input

MAX_REQUESTS = 5000
_DEFAULT_REQUESTS = 1000
_QUANTILES = (0.5, 0.95, 0.99)


def simulation_tab(answer: Answered) -> None:
    """Asks what to replay, runs it on request, shows the last run while it still belongs to the scenario."""
    scenario, evaluation, whys = answer.scenario, answer.evaluation, answer.whys
    st.caption(text("simulation.about"))
    fleets = {"colocated": evaluation.colocated_fleet, "disaggregated": evaluation.disaggregated_fleet}
    for fleet in FLEETS:
        if fleets[fleet] is None:
            sentence = text(
                "simulation.no_fleet", fleet=text(f"fleet.{fleet}"), why=plain(whys.get(fleet, ""))
            )
            st.caption(f":material/block: {sentence}")
    if not any(fleets.values()):
        return
    wanted = _ask(scenario)
    if wanted is None:
        return
    if st.button(text("simulation.run"), icon=":material/play_arrow:", key="simulation.run", type="primary"):
        st.session_state["simulated"] = wanted
    ran: Replay | None = st.session_state.get("simulated")
    if ran is None:
        return
    if ran != wanted:
        st.caption(f":material/update: {text('simulation.stale')}")
        return
    with st.spinner(text("simulation.running", requests=number(wanted.requests))):
        try:
            result = replay(wanted)
        except ValueError as error:
            st.error(plain(said(str(error))), icon=":material/error:")
            return
    _show(result, wanted, scenario)


def _ask(scenario: Scenario) -> Replay | None:
    sources = {source: text(f"simulation.source_{source}") for source in ("scenario", "trace")}
    source = st.segmented_control(
        text("simulation.source"),
        list(sources),
        default="scenario",
        required=True,
        format_func=sources.__getitem__,
        key="simulation.source",
    )
    if source == "trace":
        trace = trace_input()
        if trace is None:
            return None
        scale = st.number_input(
            text("simulation.rate_scale"),
            0.01,
            1000.0,
            1.0,
            step=0.1,
            format="%g",
            key="simulation.rate_scale",
        )
        return Replay(scenario.model_dump_json(), min(trace.requests, MAX_REQUESTS), 0, scale, trace.digest)
    left, right = st.columns(2)
    requests = left.number_input(
        text("simulation.requests"), 10, MAX_REQUESTS, _DEFAULT_REQUESTS, step=100, key="simulation.requests"
    )
    seed = right.number_input(text("simulation.seed"), 0, 2**31 - 1, 1, step=1, key="simulation.seed")
    return Replay(scenario.model_dump_json(), int(requests), int(seed), 1.0, "")


def _show(result: ReplayResult, wanted: Replay, scenario: Scenario) -> None:
    key = "simulation.trace_summary" if wanted.trace else "simulation.summary"
    st.markdown(
        text(
            key,
            requests=number(wanted.requests),
            seed=wanted.seed,
            scale=number(wanted.rate_scale),
            seconds=number(max(result.simulated_s.values())),
        )
    )
    left, right = st.columns(2)
    slo = scenario.slo
    online = scenario.workload.mode == "online"
    with left:
        _distribution("TTFT", result.ttft_s, slo.ttft_s if online else None, "simulation.ttft_x")
    with right:
        limit = slo.tpot_ms / 1e3 if online and slo.tpot_ms is not None else None
        _distribution("TPOT", result.tpot_s, limit, "simulation.tpot_x")
    st.dataframe(metric_frame(result.outcomes), hide_index=True, width="stretch", height="content")


def metric_frame(outcomes: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """A row a metric with its unit, a column a fleet. outcomes: fleets as `simulate --json` writes them."""
    rows = []
    for key, label in (("ttft_s", "TTFT"), ("tpot_s", "TPOT"), ("itl_s", "ITL"), ("e2e_s", "End to end")):
        unit, scale = ("s", 1.0) if key == "e2e_s" else ("ms", 1e3)
        for p in ("p50", "p95", "p99"):
            values = {f: (o.get(key) or {}).get(p) for f, o in outcomes.items()}
            rows.append((f"{label} {p.upper()} ({unit})", {f: _scaled(v, scale) for f, v in values.items()}))
    for key, label, scale in (
        ("goodput_per_s", "Goodput (req/s)", 1.0),
        ("attainment_fraction", "SLO attainment", 0.0),
        ("cost_usd_per_million_tokens", "Cost (USD per 1M tokens)", 1.0),
    ):
        values = {f: o.get(key) for f, o in outcomes.items()}
        shown = {
            f: ("–" if v is None else percent(v)) if scale == 0 else _scaled(v, scale)
            for f, v in values.items()
        }
        rows.append((label, shown))
    for fleet, outcome in outcomes.items():
        for part, value in (outcome.get("utilisation") or {}).items():
            if value is not None:
                shown_value = number(value) if part == "batch" else percent(value)
                cells = {f: shown_value if f == fleet else "–" for f in outcomes}
                rows.append(
                    (f"Utilisation, {text(f'fleet.{fleet}').lower()}: {part.replace('_', ' ')}", cells)
                )
    head = text("simulation.metric")
    return pd.DataFrame(
        [{head: label, **{text(f"fleet.{f}"): v for f, v in cells.items()}} for label, cells in rows]
    )


def _scaled(value: float | None, scale: float) -> str:
    return "–" if value is None else number(float(value) * scale)


def _distribution(what: str, values_s: Mapping[str, Any], limit_s: float | None, x_text: str) -> None:
    frame = latency_frame(values_s, fleet_texts(), limit_s)
    sentences = []
    for fleet, values in values_s.items():
        kept = np.asarray(values)[np.isfinite(values)]
        if kept.size:
            p50, p95, p99 = (number(float(v) * 1e3) for v in np.quantile(kept, _QUANTILES))
            sentences.append(
                text("simulation.latency_alt_fleet", fleet=text(f"fleet.{fleet}"), p50=p50, p95=p95, p99=p99)
            )
    limit = "" if limit_s is None else text("simulation.limit", value=f"{number(limit_s * 1e3)} ms")
    st.vega_lite_chart(
        frame,
        _latency_template(text(x_text), limit, language()),
        alt=text("simulation.latency_alt", what=what, parts=" ".join(sentences)),
        key=f"chart.{what.lower()}",
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _latency_template(x_title: str, limit_text: str, language: str) -> dict[str, Any]:
    empty = pd.DataFrame({column: [] for column in COLUMNS})
    return to_template(
        latency_distribution(
            empty,
            fleet_texts=fleet_texts(),
            x_title=x_title,
            y_title=text("simulation.cdf_y"),
            limit_text=limit_text,
        )
    )
