"""Tabs whose numbers take replays or many evaluations: what faults cost, and published results."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.evidence.published_results import PublishedResult
from pdexplorer.study.faults import FaultRow, fault_shares
from pdexplorer.texts.formats import ms_text, number, percent
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.tabs.studies import long_study, table
from pdexplorer.ui.texts import said, text


def faults_tab(answer: Answered) -> None:
    """Each fault in each fleet: requests that then miss their limits."""
    st.caption(text("faults.about"))
    found: tuple[FaultRow, ...] | None = long_study("faults", answer.scenario)
    if not found:
        if found is not None:
            st.caption(text("work.none"))
        return
    faults = answer.scenario.faults

    def shares(key: str) -> dict[str, str]:
        return {name: percent(share) for name, share in fault_shares(key, faults).items()}

    rows: list[Mapping[str, Any]] = [
        {
            text("column.fleet"): text(f"fleet.{row.fleet}"),
            text("faults.fault"): text(f"fault.{row.key}", **shares(row.key)),
            text("faults.before"): percent(row.attainment_before),
            text("faults.after"): percent(row.attainment_after),
            text("faults.lost"): row.lost_requests,
            text("faults.retries"): row.retries,
            text("faults.ttft"): ms_text(row.ttft_p95_s),
        }
        for row in found
    ]
    table(rows, height="content")


def published_tab(answer: Answered) -> None:
    """The list of published comparisons beside what the model says of each; misses stay in."""
    st.caption(text("published.about"))
    found: tuple[PublishedResult, ...] | None = long_study("published")
    if not found:
        return
    right = sum(row.correct for row in found)
    st.markdown(text("published.score", right=right, listed=len(found)))
    rows: list[Mapping[str, Any]] = [
        {
            text("published.case"): row.id,
            text("published.claim"): row.claim,
            text("published.measured"): _sign(row.published_sign, row.published_ratio),
            text("published.predicted"): _sign(row.predicted_sign, row.predicted_ratio),
            text("published.right"): row.correct,
            text("published.why"): said(row.cause or row.limit),
            text("column.source"): row.source,
        }
        for row in found
    ]
    table(rows, height=460)


def _sign(sign: str | None, ratio: float | None) -> str:
    words = text(f"published.{sign}") if sign else "–"
    return words if ratio is None else f"{words} ({number(ratio)}×)"
