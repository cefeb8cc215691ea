"""One line that says which case is being judged, so that a screenshot speaks for itself."""

import streamlit as st

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import diff
from pdexplorer.texts.formats import number, percent, tokens_text
from pdexplorer.ui.state import Asked
from pdexplorer.ui.texts import plain, text

_KEYS_SHOWN = 4


def case_line(asked: Asked, catalog: Catalog, changed: bool) -> None:
    """Preset, model, traffic, limits and hardware; which keys differ from the preset.

    changed: another question's answer was shown before; what is still there of it is drawn as old (`style`).
    """
    line = plain(case_text(asked.scenario, catalog))
    edited = list(diff(asked.scenario, asked.preset.scenario))
    shown = ", ".join(edited[:_KEYS_SHOWN]) + (
        f" +{len(edited) - _KEYS_SHOWN}" if len(edited) > _KEYS_SHOWN else ""
    )
    note = f" · *{plain(text('case.edited', keys=shown))}*" if edited else ""
    with st.container(key="case"), st.container(key="new-question" if changed else "same-question"):
        st.caption(f"{line}{note}")


def case_text(scenario: Scenario, catalog: Catalog) -> str:
    """The scenario in one line."""
    workload, network = scenario.workload, scenario.network
    model = scenario.model.architecture or catalog.models.get(scenario.model.name)
    link = catalog.links.get(network.link)
    if workload.arrivals == "closed_loop":
        load = text("case.concurrency", count=number(workload.concurrency))
    else:
        load = text("case.rate", rate=number(workload.rate_per_s))
    return text(
        "case.line",
        model=model.name if model is not None else scenario.model.name,
        weights=scenario.model.weight_format,
        input=tokens_text(workload.input_tokens),
        output=tokens_text(workload.output_tokens),
        hit=percent(workload.prefix_hit_fraction),
        load=load,
        slo=slo_text(scenario),
        prefill=_device(scenario.prefill.accelerator, catalog),
        decode=_device(scenario.decode.accelerator, catalog),
        link=link.name if link is not None else network.link,
    )


def slo_text(scenario: Scenario) -> str:
    """The limits that are set: TTFT 2 s, TPOT 50 ms at P95."""
    slo = scenario.slo
    limits = [
        f"{name} {number(limit)} {unit}"
        for name, limit, unit in (
            ("TTFT", slo.ttft_s, "s"),
            ("TPOT", slo.tpot_ms, "ms"),
            ("E2E", slo.e2e_s, "s"),
        )
        if limit is not None
    ]
    if not limits or scenario.workload.mode == "offline":
        return text("case.slo_none")
    return text("case.slo", limits=", ".join(limits), percentile=f"{slo.percentile:g}")


def _device(identifier: str, catalog: Catalog) -> str:
    device = catalog.accelerators.get(identifier)
    return device.name if device is not None else identifier
