"""A model of the visitor's own, from the config.json that its owner publishes."""

import json
from typing import Any

import streamlit as st

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.hf_config import read_hf_config, weight_format_of
from pdexplorer.physics.memory import kv_bytes_per_token
from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.texts.formats import number
from pdexplorer.ui.edits import queue_settings
from pdexplorer.ui.texts import plain, said, text

_TEXT, _USE, _BACK = "model.paste", "model.use", "model.back"
_MAX_CHARACTERS = 200_000


def own_model(scenario: Scenario, catalog: Catalog) -> None:
    """The box to paste into; what is set already, with the way back, and what is not known of the model."""
    own = scenario.model.architecture
    model = own or catalog.models.get(scenario.model.name)
    if model is not None and model.compressed:
        st.caption(text("model.compressed"))
    if own is not None:
        kv = number(float(kv_bytes_per_token(own, scenario.model.kv_format)))
        st.caption(text("model.own", name=plain(own.name), layers=own.layers, kv=kv))
        st.button(
            text(_BACK), key=_BACK, on_click=queue_settings, args=(_BACK, {"model.architecture": "none"})
        )
    st.text_area(
        text(_TEXT), key=_TEXT, height=90, max_chars=_MAX_CHARACTERS, placeholder='{"model_type": …}'
    )
    st.button(text(_USE), key=_USE, on_click=_use)
    if problem := st.session_state.get("model.problem"):
        st.error(text("model.bad", why=plain(said(problem))), icon=":material/error:")


def config_settings(pasted: str) -> dict[str, str]:
    """Dotted settings of the model in a config.json. ValueError in one line for what is none."""
    try:
        config = json.loads(pasted)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise ValueError(f"config.json: is not JSON ({where})") from None
    name = (
        str(config.get("_name_or_path") or config.get("model_type") or "custom")
        if isinstance(config, dict)
        else ""
    )
    architecture = read_hf_config(config, name[:80] or "custom")
    settings = architecture_settings(architecture)
    stored = str(weight_format_of(config))
    if stored in keys()["model.weight_format"].choices:
        settings["model.weight_format"] = stored
    return settings


def architecture_settings(architecture: Architecture) -> dict[str, str]:
    """Every field of an architecture as a link spells it."""
    return {
        f"model.architecture.{field}": _spelled(value)
        for field, value in architecture.model_dump().items()
        if value is not None or keys()[f"model.architecture.{field}"].word
    }


def _spelled(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _use() -> None:
    session = st.session_state
    session["model.problem"] = ""
    try:
        queue_settings(_USE, config_settings(session.get(_TEXT) or ""))
    except ValueError as error:
        session["model.problem"] = str(error)
