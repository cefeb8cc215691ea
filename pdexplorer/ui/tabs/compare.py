"""Two scenarios side by side: A is pinned and part of the link, B is what the page shows."""

import pandas as pd
import streamlit as st

from pdexplorer.scenario.link import parse_link, to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.scenario.settings import diff
from pdexplorer.texts.catalogue import catalogue
from pdexplorer.texts.formats import number
from pdexplorer.texts.verdict_words import sentence, title
from pdexplorer.ui.answer import Answered, answered
from pdexplorer.ui.edits import queue_preset
from pdexplorer.ui.figures import FLEETS
from pdexplorer.ui.language import drop_from_address, set_in_address
from pdexplorer.ui.state import Asked
from pdexplorer.ui.tabs.studies import table
from pdexplorer.ui.texts import language, plain, said, text, texts

PIN = "a"
_GO = "compare.go"


def compare_tab(answer: Answered, presets: Presets) -> None:
    """Pin, unpin, and the comparison where something is pinned."""
    st.caption(text("compare.about"))
    here = to_link(answer.scenario, answer.preset)
    pinned = st.query_params.get(PIN, "")
    with st.container(horizontal=True):
        st.button(
            text("compare.pin"), icon=":material/keep:", key="compare.pin", on_click=_pin, args=(here[1:],)
        )
        if pinned:
            st.button(text(_GO), key=_GO, on_click=queue_preset, args=(_GO, f"?{pinned}"))
            st.button(text("compare.unpin"), key="compare.unpin", on_click=drop_from_address, args=(PIN,))
    if not pinned:
        return
    link = parse_link(f"?{pinned}", presets)
    for refusal in link.refused:
        st.warning(plain(said(refusal.text)), icon=":material/rule:")
    changed = diff(answer.scenario, link.scenario)
    if not changed and link.scenario == answer.scenario:
        st.caption(text("compare.same"))
        return
    try:
        other = answered(Asked(link.preset, link.scenario))
    except ValueError as error:
        st.error(text("compare.bad", why=plain(said(str(error)))), icon=":material/error:")
        return
    for key, side in (("compare.verdict_a", other), ("compare.verdict_b", answer)):
        words = text(
            "verdict.line",
            title=title(texts(), side.json),
            sentence=sentence(texts(), side.json, side.whys, plain),
        )
        st.markdown(text(key, words=words))
    table(compare_frame(other, answer).to_dict("records"))
    back = diff(link.scenario, answer.scenario)
    columns = [text(f"compare.{name}") for name in ("setting", "a_value", "b_value")]
    table(
        [dict(zip(columns, (_label(key), back.get(key, ""), changed[key]), strict=True)) for key in changed]
    )


def _label(key: str) -> str:
    """A setting as the inputs call it; one of the catalogue's figures by its key."""
    known = catalogue(language())
    return known.get(f"field.{key}", key)


def compare_frame(a: Answered, b: Answered) -> pd.DataFrame:
    """One row a figure, a column a fleet of A and of B."""
    columns = {
        text(f"compare.{side}", fleet=text(f"fleet.{fleet}")): answer.json[fleet]
        for side, answer in (("a", a), ("b", b))
        for fleet in FLEETS
    }
    rows = []
    for label, path, scale in (
        ("compare.ttft", ("ttft_s", "p95"), 1e3),
        ("compare.tpot", ("tpot_s", "p95"), 1e3),
        ("compare.goodput", ("goodput_per_s",), 1.0),
        ("compare.gpus", ("gpus",), 1.0),
        ("compare.per_hour", ("cost_usd_per_hour",), 1.0),
        ("compare.per_1000", ("cost_per_request_usd", "total"), 1e3),
    ):
        row = {text("compare.row"): text(label)}
        for column, fleet in columns.items():
            value = fleet
            for step in path:
                value = None if value is None else value[step]
            row[column] = "–" if value is None else number(float(value) * scale)
        rows.append(row)
    return pd.DataFrame(rows)


def _pin(query: str) -> None:
    set_in_address(PIN, query)
