"""Every dotted key of a scenario: what it means, its unit and what it takes."""

import difflib
import types
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.scenario.fields import Word
from pdexplorer.scenario.scenario import Scenario

KeyType = Literal["number", "integer", "choice", "flag", "text", "names"]

_UNITS = {
    "_byte_per_s": "byte/s",
    "_gb_per_s": "GB/s",
    "_gbit_per_s": "Gbit/s",
    "_usd_per_nic_hour": "$/NIC/h",
    "_usd_per_hour": "$/h",
    "_usd_per_month": "$/month",
    "_usd_per_kwh": "$/kWh",
    "_usd": "$",
    "_per_year": "/year",
    "_per_s": "/s",
    "_tokens": "tokens",
    "_bytes": "bytes",
    "_gb": "GB",
    "_ms": "ms",
    "_s": "s",
}
_BARE_UNITS = {"usd_per_kwh": "$/kWh", "percentile": "%", "years": "years"}
_CATALOGUE_LISTS = {
    "model.name": "models",
    "colocated.accelerator": "accelerators",
    "prefill.accelerator": "accelerators",
    "decode.accelerator": "accelerators",
    "compare.accelerators": "accelerators",
    "network.link": "links",
    "engine.profile": "engines",
    "colocated.engine": "engines",
}
_PREFIXES = ("money.usd_per_hour.<accelerator>", "overrides.<accelerator>.<figure>")


@dataclass(frozen=True)
class Key:
    """One dotted key. minimum and maximum are in `unit`; word is `auto`, `none` or empty."""

    name: str
    block: str
    field: str
    type: KeyType
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    open_minimum: bool
    choices: tuple[str, ...]
    word: str
    default: Any
    catalogue: str

    @property
    def allowed(self) -> str:
        """What the key takes, in words: "a number above 0 up to 100, or auto"."""
        return _allowed_text(self)


@cache
def keys() -> types.MappingProxyType[str, Key]:
    """All fixed keys by dotted name; `overrides.*` and `money.usd_per_hour.*` are families beside them."""
    found: dict[str, Key] = {}
    for block, info in Scenario.model_fields.items():
        if not (isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)):
            continue
        for field, field_info in info.annotation.model_fields.items():
            name = f"{block}.{field}"
            if name not in ("model.architecture", "money.usd_per_hour"):
                found[name] = _describe(name, block, field, field_info)
    for field, field_info in Architecture.model_fields.items():
        name = f"model.architecture.{field}"
        found[name] = _describe(name, "model.architecture", field, field_info)
    return types.MappingProxyType(found)


def close_names(name: str, among: Iterable[str], count: int = 3) -> str:
    """For an error text: ` (close: a, b)`, or nothing where nothing is close."""
    names = tuple(among)
    found = difflib.get_close_matches(name, names, n=count, cutoff=0.6)
    if not found:
        tail = name.rsplit(".", 1)[-1]
        tails = difflib.get_close_matches(tail, {n.rsplit(".", 1)[-1] for n in names}, n=count, cutoff=0.7)
        found = [n for n in names if n.rsplit(".", 1)[-1] in tails][:count]
    return f" (close: {', '.join(found)})" if found else ""


def key_families() -> tuple[str, ...]:
    """The open families, as patterns a person can read."""
    return _PREFIXES


def _describe(name: str, block: str, field: str, info: FieldInfo) -> Key:
    bounds = {n: getattr(m, n) for m in info.metadata for n in ("ge", "gt", "le", "lt") if hasattr(m, n)}
    word = next((m.word for m in info.metadata if isinstance(m, Word)), "")
    kind, choices = _type_of(info.annotation)
    if kind == "choice" and choices[0].isdigit():
        kind, bounds = "integer", {"ge": int(choices[0]), "le": int(choices[-1])}
    minimum = bounds.get("gt", bounds.get("ge"))
    return Key(
        name=name,
        block=block,
        field=field,
        type=kind,
        description=info.description or "",
        unit=_unit_of(field),
        minimum=minimum,
        maximum=bounds.get("le", bounds.get("lt")),
        open_minimum="gt" in bounds,
        choices=choices,
        word=word or ("none" if type(None) in get_args(info.annotation) else ""),
        default=None if info.is_required() else info.get_default(call_default_factory=False),
        catalogue=_CATALOGUE_LISTS.get(name, ""),
    )


def _type_of(annotation: Any) -> tuple[KeyType, tuple[str, ...]]:
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(a for a in get_args(annotation) if a is not type(None))
    if get_origin(annotation) is Literal:
        return "choice", tuple(str(a) for a in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "names", ()
    simple: dict[Any, KeyType] = {bool: "flag", int: "integer", float: "number"}
    return simple.get(annotation, "text"), ()


def _unit_of(field: str) -> str:
    if field in _BARE_UNITS:
        return _BARE_UNITS[field]
    return next((unit for suffix, unit in _UNITS.items() if field.endswith(suffix)), "")


def _allowed_text(key: Key) -> str:
    also = f", or {key.word}" if key.word else ""
    if key.type == "choice":
        return f"one of {', '.join(key.choices)}{also}"
    if key.type == "flag":
        return "true or false"
    if key.catalogue and key.type == "names":
        return f"ids of the catalogue's {key.catalogue}, with commas between them"
    if key.catalogue:
        return f"an id of the catalogue's {key.catalogue}{also}"
    if key.field == "currency":
        return "three capital letters, like USD"
    if key.type == "text":
        return f"a text{also}"
    noun = "an integer" if key.type == "integer" else "a number"
    low = "" if key.minimum is None else f"{' above' if key.open_minimum else ' from'} {key.minimum:,.10g}"
    high = (
        ""
        if key.maximum is None
        else f" {'up to' if key.open_minimum or not low else 'to'} {key.maximum:,.10g}"
    )
    return f"{noun}{low}{high}{' ' + key.unit if key.unit else ''}{also}"
