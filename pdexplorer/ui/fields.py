"""One input for one field of the scenario, chosen by its type; description and bounds are its help."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.keys import Key, keys
from pdexplorer.texts.formats import unit_text
from pdexplorer.ui.edits import follow, queue_settings
from pdexplorer.ui.texts import choice_text, described, text


def field_input(name: str, value: Any, catalog: Catalog) -> None:
    """The input of a dotted key. value is as `Scenario.model_dump` writes it (`auto` and `none` as words)."""
    key = keys()[name]
    label, described = text(f"field.{name}"), field_help(key)
    widget = f"in.{name}"
    changed: dict[str, Any] = {"key": widget, "on_change": _apply, "args": (name, widget), "help": described}
    if key.type == "flag":
        follow(widget, bool(value))
        st.toggle(label, **changed)
    elif key.type == "names":
        names = catalogue_names(key.catalogue, catalog)
        follow(widget, list(value))
        st.multiselect(label, list(names), format_func=lambda i: names.get(i, i), **changed)
    elif key.type == "choice" or key.catalogue:
        choose(label, key, value, catalog, changed)
    elif key.word or key.type == "text":
        follow(widget, number_text(value))
        st.text_input(label, placeholder=key.word or None, **changed)
    elif key.type == "integer":
        follow(widget, int(value))
        st.number_input(
            label, min_value=_as_int(key.minimum), max_value=_as_int(key.maximum), step=1, **changed
        )
    else:
        follow(widget, float(value))
        st.number_input(
            label,
            min_value=as_float(key.minimum),
            max_value=as_float(key.maximum),
            step=_step(key, float(value)),
            format="%g",
            **changed,
        )


def choose(label: str, key: Key, value: Any, catalog: Catalog, changed: Mapping[str, Any]) -> None:
    """A select box over a field's choices or the catalogue's ids, named as people know them."""
    names = catalogue_names(key.catalogue, catalog) if key.catalogue else {}
    options = [*([key.word] if key.word else []), *(names or key.choices)]
    shown = str(value)
    if key.name in ("workload.arrivals", "workload.input_distribution", "workload.output_distribution"):
        options = [o for o in options if o != "trace" or shown == "trace"]  # a page is given no file's name
    if shown not in options:
        options = [shown, *options]
    follow(changed["key"], shown)
    shown_as = {option: names.get(option) or choice_text(key.name, option) for option in options}
    st.selectbox(label, options, format_func=shown_as.__getitem__, **changed)


def catalogue_names(kind: str, catalog: Catalog) -> Mapping[str, str]:
    """Names by id, of `accelerators`, `models`, `links` or `engines`, in the catalogue's order."""
    records: Mapping[str, Any] = getattr(catalog, kind)
    return {identifier: getattr(record, "name", "") or identifier for identifier, record in records.items()}


def field_help(key: Key) -> str:
    """Description, what is allowed and the key as links write it."""
    words = described(key.name, key.description).replace("$", "\\$").replace("[", "\\[")
    if key.type in ("choice", "flag", "names") or key.catalogue:
        return text("input.list_help", description=words, key=key.name)
    return text("input.auto_help", description=words, allowed=allowed_text(key), key=key.name)


def allowed_text(key: Key) -> str:
    """What a typed field takes: "a number above 0 to 100 s, or none"."""
    if key.type == "text":
        words = text("allowed.currency" if key.field == "currency" else "allowed.text")
    else:
        words = text(f"allowed.{key.type}")
        if key.minimum is not None:
            words += text("allowed.above" if key.open_minimum else "allowed.from", low=f"{key.minimum:,.10g}")
        if key.maximum is not None:
            words += text("allowed.to", high=f"{key.maximum:,.10g}")
        words += f" {unit_text(key.unit)}" if key.unit else ""
    return words + (text("allowed.or_word", word=key.word) if key.word else "")


def number_text(value: Any) -> str:
    """A number as a person types it: 4000, not 4000.0; words stay."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return "" if value is None else str(value)


def log_steps(low: float, high: float, here: float) -> Sequence[float]:
    """Ten round steps a decade from low to high and the present value: options of a log slider."""
    series = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8)
    steps = {low, high, here}
    decade = 10.0**-3
    while decade <= high:
        steps.update(round(decade * s, 6) for s in series if low <= decade * s <= high)
        decade *= 10
    return sorted(steps)


def _apply(name: str, widget: str) -> None:
    value = st.session_state[widget]
    queue_settings(widget, {name: ",".join(value) if isinstance(value, list) else number_text(value)})


def as_float(bound: float | None) -> float | None:
    """A bound as a number box wants it, of the type of its value."""
    return None if bound is None else float(bound)


def _as_int(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


def _step(key: Key, value: float) -> float:
    if key.maximum is not None and key.maximum <= 1:
        return 0.05
    return 1.0 if value >= 20 or key.unit == "tokens" else 0.1
