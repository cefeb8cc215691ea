"""Tabs whose numbers take replays or many evaluations: what faults cost, and published results."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.evidence.published import load_published
from pdexplorer.evidence.published_results import (
    FIRST_BALANCED_ACCURACY_FRACTION,
    PublishedResult,
    cause_key,
    scorecard,
)
from pdexplorer.scenario.link import to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import diff
from pdexplorer.study.faults import FaultRow, fault_shares
from pdexplorer.texts.chinese_causes import CAUSES
from pdexplorer.texts.chinese_published import CHANGES, CLAIMS
from pdexplorer.texts.formats import number, percent, seconds_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.pick import Point
from pdexplorer.ui.tabs.studies import long_study, pick_table, table
from pdexplorer.ui.texts import language, plain, said, text


def faults_tab(answer: Answered) -> None:
    """Each fault in each fleet: requests that then miss their limits."""
    st.caption(text("faults.about"))
    found: tuple[FaultRow, ...] | None = long_study("faults", answer.scenario.model_dump_json())
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
            text("faults.ttft"): seconds_text(row.ttft_p95_s),
            text("faults.late"): "" if row.late is None else text(f"late.{row.late.cause}"),
        }
        for row in found
    ]
    table(rows)


def published_tab(answer: Answered, presets: Presets) -> None:
    """The list of published comparisons beside what the model says of each; misses stay in. A selected one
    can be opened as the page's question.
    """
    st.caption(text("published.about"))
    found: tuple[PublishedResult, ...] | None = long_study("published")
    if not found:
        return
    right, first = sum(row.correct for row in found), FIRST_BALANCED_ACCURACY_FRACTION
    now = scorecard(found).balanced_accuracy_fraction
    st.markdown(
        text("published.score", right=right, listed=len(found), now=percent(now), first=percent(first))
    )
    scenarios = {case.id: case.scenario for case in load_published()}
    at = pick_table(
        "published.table",
        [_published(row) for row in found],
        [Point(f"{row.id}: {_claim(row)}", as_link(scenarios[row.id], presets)) for row in found],
        answer.scenario,
        "published.open",
        height=460,
        widths={text(f"published.{name}"): 300 for name in ("claim", "why", "changed")},
    )
    if at is not None:
        _in_full(found[at])


def _published(row: PublishedResult) -> Mapping[str, Any]:
    return {
        text("published.case"): row.id,
        text("published.right"): row.correct,
        text("published.measured"): _sign(row.published_sign, row.published_ratio),
        text("published.predicted"): _sign(row.predicted_sign, row.predicted_ratio),
        text("published.claim"): _claim(row),
        text("published.why"): _why(row),
        text("published.changed"): _changed(row),
        text("column.source"): row.source,
    }


def _in_full(row: PublishedResult) -> None:
    """The selected row's long texts, which the table cuts."""
    told = {
        "published.claim": _claim(row),
        "published.why": _why(row),
        "published.changed": _changed(row),
        "column.source": row.source,
    }
    lines = [f"**{text(key)}** {plain(words)}" for key, words in told.items() if words]
    st.caption("  \n".join(lines))


def _claim(row: PublishedResult) -> str:
    return CLAIMS.get(row.id, row.claim) if language() == "zh" else row.claim


def _changed(row: PublishedResult) -> str:
    return CHANGES.get(row.id, row.changed) if language() == "zh" else row.changed


def _why(row: PublishedResult) -> str:
    chinese = CAUSES.get(cause_key(row.id)) if row.cause and language() == "zh" else None
    return chinese or row.cause or said(row.limit)


def as_link(scenario: Scenario, presets: Presets) -> str:
    """A scenario as the shortest link: from the preset it differs least from."""
    near = min(presets.values(), key=lambda preset: len(diff(scenario, preset.scenario)))
    return to_link(scenario, near)


def _sign(sign: str | None, ratio: float | None) -> str:
    words = text(f"published.{sign}") if sign else "–"
    return words if ratio is None else f"{words} ({number(ratio)}×)"
