"""Figures a person sets by hand: those nobody published, asked for where missed, and all set so far."""

import re
from collections.abc import Iterable, Mapping

import streamlit as st

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.money import price_of
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.texts.chinese_figures import FIGURES
from pdexplorer.ui.edits import follow, queue_settings
from pdexplorer.ui.fields import catalogue_names, number_text
from pdexplorer.ui.texts import language, plain, said, text

_NAMED_KEY = re.compile(r"overrides\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_]+)")

FIGURE_UNITS: Mapping[str, str] = {
    "_gb_per_s": "GB/s",
    "_gb_per_s_per_direction": "GB/s each way",
    "_gbit_per_s": "Gbit/s",
    "_usd_per_hour": "USD/h",
    "_usd": "USD",
    "_gb": "GB",
    "_mib": "MiB",
    "_w": "W",
    "_us": "µs",
    "_ms": "ms",
    "_fraction": "share",
}


def missing_figures(limits: Iterable[Infeasible | None]) -> tuple[tuple[str, str], ...]:
    """(id, figure) of every catalogue figure an answer lacks, from the limits that name them."""
    found: dict[tuple[str, str], None] = {}
    for limit in limits:
        if limit is not None and limit.limit == "missing_figure":
            found.update({(match[1], match[2]): None for match in _NAMED_KEY.finditer(limit.text)})
    return tuple(found)


def unpriced(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """Accelerators of the scenario that have no price: neither published, nor derived, nor set by hand."""
    used = (scenario.prefill.accelerator, scenario.decode.accelerator, scenario.colocated.accelerator)
    devices = [catalog.accelerators.get(identifier) for identifier in dict.fromkeys(used) if identifier]
    return tuple(d.id for d in devices if d and price_of(d, scenario.money).usd_per_hour is None)


def why_text(limit: Infeasible, catalog: Catalog) -> str:
    """A limit as the page says it: a figure nobody published by its name; the input to set it stands
    beside.
    """
    missing = missing_figures([limit])
    names = ", ".join(
        f"{_name(identifier, catalog)} {figure_label(figure)}" for identifier, figure in missing
    )
    return text("notice.missing_why", what=names) if missing else said(limit.text)


def ask_for_missing(figures: Iterable[tuple[str, str]], catalog: Catalog) -> None:
    """One notice a missing figure, with the input that sets it."""
    for identifier, figure in figures:
        what = f"{_name(identifier, catalog)} {figure_label(figure)}"
        _ask(text("notice.missing", what=plain(what)), what, f"overrides.{identifier}.{figure}")


def ask_for_prices(identifiers: Iterable[str], catalog: Catalog) -> None:
    """One notice an unpriced accelerator, with the input that sets what its owner pays."""
    for identifier in identifiers:
        name = _name(identifier, catalog)
        label = text("notice.price_label", what=name)
        _ask(text("notice.price", what=plain(name)), label, f"money.usd_per_hour.{identifier}")


def prices_set_by_hand(scenario: Scenario, catalog: Catalog) -> None:
    """Hourly prices of the accelerators in use, each free to be set; empty takes the catalogue's."""
    used = (scenario.prefill.accelerator, scenario.decode.accelerator, scenario.colocated.accelerator)
    for identifier in dict.fromkeys([i for i in used if i] + list(scenario.money.usd_per_hour)):
        label = text("notice.price_label", what=_name(identifier, catalog))
        _optional_number(
            label, f"money.usd_per_hour.{identifier}", scenario.money.usd_per_hour.get(identifier)
        )


def figures_set_by_hand(scenario: Scenario, catalog: Catalog) -> None:
    """All overrides, each editable and cleared by emptying it, and one more to add."""
    if not any(scenario.overrides.values()):
        st.caption(text("overrides.none_set"))
    for identifier, figures in scenario.overrides.items():
        for figure, value in figures.items():
            label = f"{_name(identifier, catalog)} {figure_label(figure)}"
            _optional_number(label, f"overrides.{identifier}.{figure}", value)
    names = catalogue_names("accelerators", catalog)
    identifier = st.selectbox(
        text("overrides.accelerator"), list(names), format_func=lambda i: names[i], key="override.id"
    )
    figures_of = catalog.accelerators[identifier].figures
    labels = {name: figure_label(name) for name in figures_of}
    figure = st.selectbox(
        text("overrides.figure"), list(figures_of), format_func=labels.__getitem__, key="override.figure"
    )
    key = f"overrides.{identifier}.{figure}"
    if figure and figure not in scenario.overrides.get(identifier, {}):
        _optional_number(
            text("overrides.value"), key, None, placeholder=number_text(figures_of[figure].value)
        )


def figure_label(figure: str) -> str:
    """`memory_bandwidth_gb_per_s` as people read it: memory bandwidth (GB/s)."""
    chinese = FIGURES.get(figure) if language() == "zh" else None
    for suffix, unit in sorted(FIGURE_UNITS.items(), key=lambda item: -len(item[0])):
        if figure.endswith(suffix):
            return f"{chinese or figure.removesuffix(suffix).replace('_', ' ')} ({unit})"
    return chinese or figure.replace("_", " ")


def _ask(sentence: str, label: str, key: str) -> None:
    with st.container(border=True, key=f"ask-{key.replace('.', '-')}"):
        words, box = st.columns([3, 1], vertical_alignment="center")
        words.markdown(f":material/edit_note: {sentence}")
        with box:
            _optional_number(label, key, None, hidden=True)


def _optional_number(
    label: str, key: str, value: float | None, placeholder: str = "", hidden: bool = False
) -> None:
    widget = f"in.{key}"
    follow(widget, value)
    st.number_input(
        label,
        min_value=0.0,
        value=None,
        step=None,
        format="%g",
        key=widget,
        placeholder=placeholder or None,
        label_visibility="collapsed" if hidden else "visible",
        help=f"`{key}`",
        on_change=_apply,
        args=(key, widget),
    )


def _apply(key: str, widget: str) -> None:
    value = st.session_state[widget]
    queue_settings(widget, {key: "none" if value is None else number_text(value)})


def _name(identifier: str, catalog: Catalog) -> str:
    for records in (catalog.accelerators, catalog.links, catalog.engines):
        record = records.get(identifier)
        if record is not None:
            return str(record.name)
    return identifier
