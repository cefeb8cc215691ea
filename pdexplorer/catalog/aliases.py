"""Which accelerator, model, engine or number format a name means."""

import difflib
import functools
import re
from collections.abc import Mapping

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.records import data_tables

WEIGHT_FORMATS = ("bf16", "fp8", "fp8_block", "int8", "int4", "mxfp4", "nvfp4", "fp8_mxfp4")


def resolve_accelerator(name: str) -> str:
    """Id of an accelerator named as data files, engines or people do. ValueError names close matches."""
    return _look_up("accelerator", name, _accelerator_names())


def resolve_engine(name: str) -> str:
    """Id of an engine profile. ValueError names close matches."""
    return _look_up("engine", name, _engine_names())


def resolve_model(name: str) -> tuple[str, str | None]:
    """(id, weight format) of a model named by id, display name, Hugging Face id or a name of the data files.

    The format is None where the name says nothing of it. ValueError names close matches.
    """
    model_id, _, weight_format = _look_up("model", name, _model_names()).partition(":")
    return model_id, weight_format or None


def resolve_format(name: str) -> str:
    """How numbers are stored, in this project's words: bfloat16 is bf16, w4a16_mxfp4 is mxfp4."""
    return _look_up("format", name, _format_names())


def _look_up(what: str, name: str, names: Mapping[str, str]) -> str:
    key = _key(name)
    if key in names:
        return names[key]
    close = dict.fromkeys(
        names[match].partition(":")[0] for match in difflib.get_close_matches(key, names, n=5)
    )
    hint = (
        ", ".join(close)
        if close
        else ", ".join(sorted({value.partition(":")[0] for value in names.values()}))
    )
    raise ValueError(f"unknown {what} {name!r}; {'close to it' if close else 'known'}: {hint}")


def _key(name: str) -> str:
    return re.sub(r"[-._\s]+", "_", name.strip().lower())


@functools.cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    (_, content), *_ = data_tables("aliases")
    return content


@functools.cache
def _accelerator_names() -> Mapping[str, str]:
    devices = load_catalog().accelerators
    return _names({device.name: key for key, device in devices.items()}, devices, _tables()["accelerators"])


@functools.cache
def _engine_names() -> Mapping[str, str]:
    return _names({}, load_catalog().engines, _tables()["engines"])


@functools.cache
def _format_names() -> Mapping[str, str]:
    return _names({}, WEIGHT_FORMATS, _tables()["formats"])


@functools.cache
def _model_names() -> Mapping[str, str]:
    records = load_catalog().model_records
    shown = {record.architecture.name: key for key, record in records.items()}
    for key, record in records.items():
        native = record.architecture.native_weight_format
        # A published checkpoint holds its weights in one format; bf16 is what a name without a format means.
        shown[record.hf_id] = key if native == "bf16" else f"{key}:{native}"
    return _names(shown, records, _tables()["models"])


def _names(
    shown: Mapping[str, str], ids: Mapping[str, object] | tuple[str, ...], table: Mapping[str, str]
) -> dict[str, str]:
    names = {_key(name): target for name, target in shown.items()}
    names |= {_key(name): target for name, target in table.items()}
    return names | {key: key for key in ids}
