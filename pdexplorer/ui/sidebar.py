"""The left side: a preset, the inputs that decide most, and everything else in folded groups."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.presets import Presets
from pdexplorer.ui.edits import follow, queue_preset, queue_settings
from pdexplorer.ui.fields import as_float, field_help, field_input, log_steps, number_text
from pdexplorer.ui.language import language_switch
from pdexplorer.ui.overrides import figures_set_by_hand, prices_set_by_hand
from pdexplorer.ui.own_model import own_model
from pdexplorer.ui.state import Asked
from pdexplorer.ui.texts import preset_texts, text

_LOG_RANGE = {
    "workload.input_tokens": (100, 1_000_000),
    "workload.output_tokens": (10, 100_000),
    "workload.rate_per_s": (0.1, 10_000),
    "network.nic_gbit_per_s": (1, 3200),
}

GROUPS: Mapping[str, tuple[str, ...]] = {
    "model": ("model",),
    "workload": ("workload",),
    "slo": ("slo",),
    "colocated": ("colocated",),
    "pools": ("prefill", "decode"),
    "network": ("network",),
    "engine": ("engine", "routing"),
    "compare": ("compare", "verdict", "confidence"),
    "money": ("money",),
    "reuse": ("reuse",),
    "faults": ("faults",),
    "payback": ("payback",),
}
"""Folded groups and the scenario's blocks in each; a field on the first screen is not repeated."""

FIRST_SCREEN = (
    "workload.input_tokens",
    "workload.output_tokens",
    "workload.prefix_hit_fraction",
    "workload.rate_per_s",
    "prefill.accelerator",
    "decode.accelerator",
    "network.link",
)

_NOT_ON_THE_PAGE = ("workload.trace_file",)


def sidebar(asked: Asked, presets: Presets, catalog: Catalog) -> None:
    """All inputs. Folded groups build their widgets only while open."""
    values = flat_values(asked)
    with st.sidebar:
        language_switch()
        _preset(asked, presets)
        for name in FIRST_SCREEN[:4]:
            if name == "workload.prefix_hit_fraction":
                _fraction(name, values[name])
            elif name == "workload.rate_per_s" and values["workload.arrivals"] == "closed_loop":
                field_input("workload.concurrency", values["workload.concurrency"], catalog)
            else:
                _log_pair(name, values[name])
        for name in FIRST_SCREEN[4:]:
            field_input(name, values[name], catalog)
        for group in GROUPS:
            folded = st.expander(text(f"group.{group}"), key=f"group.{group}", on_change="rerun")
            if folded.open:
                with folded:
                    for name in group_fields(group):
                        if name in _LOG_RANGE:
                            _log_pair(name, values[name])
                        else:
                            field_input(name, values[name], catalog)
                    if group == "model":
                        own_model(asked.scenario, catalog)
                    if group == "money":
                        prices_set_by_hand(asked.scenario, catalog)
        folded = st.expander(text("group.overrides"), key="group.overrides", on_change="rerun")
        if folded.open:
            with folded:
                figures_set_by_hand(asked.scenario, catalog)


def flat_values(asked: Asked) -> dict[str, Any]:
    """Every fixed key's value, `auto` and `none` as words."""
    dump = asked.scenario.model_dump()
    return {
        f"{block}.{field}": value
        for block, fields in dump.items()
        if isinstance(fields, dict)
        for field, value in fields.items()
    }


def group_fields(group: str) -> tuple[str, ...]:
    """Dotted keys of a folded group, in the order of the scenario."""
    return tuple(
        key.name
        for key in keys().values()
        if key.block in GROUPS[group] and key.name not in FIRST_SCREEN and key.name not in _NOT_ON_THE_PAGE
    )


def _preset(asked: Asked, presets: Presets) -> None:
    follow("in.preset", asked.preset.name)
    titles = {name: preset_texts(preset)[0] for name, preset in presets.items()}
    st.selectbox(
        text("input.preset"),
        list(presets),
        key="in.preset",
        format_func=titles.__getitem__,
        help=preset_texts(asked.preset)[1].replace("$", "\\$"),
        on_change=lambda: queue_preset("in.preset", st.session_state["in.preset"]),
    )


def _log_pair(name: str, value: float | str) -> None:
    """A slider with even steps in powers of ten beside a box for the exact number. A field's word (`auto`)
    stands before the numbers.
    """
    key, label = keys()[name], text(f"field.{name}")
    low, high = _LOG_RANGE[name]
    slider, box = f"slide.{name}", f"in.{name}"
    left, right = st.columns([2.6, 1], vertical_alignment="bottom", gap="small")
    here = low if isinstance(value, str) else float(value)
    numbers = log_steps(min(low, here), max(high, here), here)
    follow(slider, value if isinstance(value, str) else here)
    left.select_slider(
        label,
        [key.word, *numbers] if key.word else numbers,
        key=slider,
        format_func=lambda v: v if isinstance(v, str) else f"{v:,.10g}",
        help=field_help(key),
        on_change=_apply,
        args=(name, slider),
    )
    if key.word:
        follow(box, number_text(value))
        right.text_input(
            text("input.exact", label=label), key=box, label_visibility="collapsed",
            on_change=_apply, args=(name, box),
        )  # fmt: skip
        return
    follow(box, here)
    right.number_input(
        text("input.exact", label=label),
        min_value=as_float(key.minimum),
        max_value=as_float(key.maximum),
        step=1.0 if key.unit == "tokens" else 0.1,
        format="%g",
        key=box,
        label_visibility="collapsed",
        on_change=_apply,
        args=(name, box),
    )


def _fraction(name: str, value: float) -> None:
    key = keys()[name]
    slider = f"slide.{name}"
    follow(slider, float(value))
    st.slider(
        text(f"field.{name}"),
        0.0,
        float(key.maximum or 1.0),
        step=0.005,
        format="percent",
        key=slider,
        help=field_help(key),
        on_change=_apply,
        args=(name, slider),
    )


def _apply(name: str, widget: str) -> None:
    value = st.session_state[widget]
    if value is not None:
        queue_settings(widget, {name: number_text(value)})
