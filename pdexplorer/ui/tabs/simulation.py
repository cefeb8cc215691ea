"""Single requests through both fleets: the tails that the closed form only estimates, simulated."""

import streamlit as st

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.texts.formats import number
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.figures import FLEETS
from pdexplorer.ui.tabs.simulation_view import show_replay
from pdexplorer.ui.tabs.trace_input import MAX_REPLAYED, trace_input, trace_requests
from pdexplorer.ui.texts import plain, said, text
from pdexplorer.ui.work.board import Job, board, watch
from pdexplorer.ui.work.replay import Replay
from pdexplorer.workload.generate import generate_requests

_DEFAULT_REQUESTS = 1000


def simulation_tab(answer: Answered) -> None:
    """Asks what to replay, runs it on request, shows the last run while it still belongs to the scenario."""
    st.caption(text("simulation.about"))
    evaluation = answer.evaluation
    fleets = {"colocated": evaluation.colocated_fleet, "disaggregated": evaluation.disaggregated_fleet}
    for fleet in FLEETS:
        if fleets[fleet] is None:
            why = plain(answer.whys.get(fleet, ""))
            st.caption(
                f":material/block: {text('simulation.no_fleet', fleet=text(f'fleet.{fleet}'), why=why)}"
            )
    if not any(fleets.values()):
        return
    wanted = _ask(answer.scenario)
    if wanted is None:
        return
    job = board().find(wanted)
    running = job is not None and not job.finished
    pressed = st.button(
        text("simulation.run"),
        icon=":material/play_arrow:",
        key="simulation.run",
        type="primary",
        disabled=running,
    )
    if pressed and not running:
        job = _start(wanted, answer.scenario)
        st.session_state["simulated"] = wanted
    if job is None:
        if st.session_state.get("simulated") not in (None, wanted):
            st.caption(f":material/update: {text('simulation.stale')}")
    elif not job.finished:
        watch(job, text("simulation.running", requests=number(wanted.requests)))
    elif job.error:
        st.error(plain(said(job.error)), icon=":material/error:")
    else:
        show_replay(job.result, wanted, answer.scenario)


def _start(wanted: Replay, scenario: Scenario) -> Job | None:
    try:
        requests = None
        if wanted.trace:
            own = generate_requests(scenario.workload, wanted.requests, wanted.seed, wanted.rate_scale)
            requests = trace_requests(wanted.trace, wanted.requests, wanted.rate_scale, own.arrival_s)
    except ValueError as error:
        st.error(plain(said(str(error))), icon=":material/error:")
        return None
    return board().start(wanted, requests)


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
        return Replay(scenario.model_dump_json(), min(trace.requests, MAX_REPLAYED), 0, scale, trace.digest)
    left, right = st.columns(2)
    requests = left.number_input(
        text("simulation.requests"), 10, MAX_REPLAYED, _DEFAULT_REQUESTS, step=100, key="simulation.requests"
    )
    seed = right.number_input(text("simulation.seed"), 0, 2**31 - 1, 1, step=1, key="simulation.seed")
    return Replay(scenario.model_dump_json(), int(requests), int(seed), 1.0, "")
