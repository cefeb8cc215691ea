"""Published results that state whether splitting paid, each as a scenario to compare our verdict with."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings, flatten

Sign = Literal["pays", "does_not_pay"]
Kind = Literal["measured", "simulated", "reported"]

CASE_FILES = ("published.toml", "published_vendors.toml", "published_reports.toml")
LEFT_OUT_FILE = "published_left_out.toml"

_TEXTS = ("source", "claim", "metric", "assumed")
_KEYS = {"id", "like", "published_sign", "published_ratio", "kind", "settings", "changed", *_TEXTS}


@dataclass(frozen=True)
class PublishedCase:
    """One published result. published_ratio is split over colocated (above 1 favours splitting) of `metric`,
    None where no number was published; assumed says what the source left open; settings are as for --set.
    changed: what was corrected in the setup since the list was first committed, and where the source says so.
    """

    id: str
    source: str
    claim: str
    published_sign: Sign
    published_ratio: float | None
    metric: str
    kind: Kind
    assumed: str
    settings: Mapping[str, str]
    scenario: Scenario
    changed: str = ""

    @property
    def row(self) -> str:
        """Row of the collection this result is from; several results can share one."""
        return self.id.partition("_")[0]


@cache
def load_published() -> tuple[PublishedCase, ...]:
    """All cases, in the order they are listed. ValueError, one line, for a broken entry."""
    found: dict[str, PublishedCase] = {}
    for file in CASE_FILES:
        for case in read_cases(file, _text(file)):
            if case.id in found:
                raise ValueError(f"{file}: id = {case.id}: is listed twice")
            found[case.id] = case
    return tuple(found.values())


@cache
def load_left_out() -> Mapping[str, str]:
    """Rows of the collection that are not compared, with the reason. ValueError for a broken file."""
    table = _parsed(LEFT_OUT_FILE, _text(LEFT_OUT_FILE)).get("left_out")
    if not isinstance(table, dict) or not all(
        isinstance(reason, str) and reason for reason in table.values()
    ):
        raise ValueError(f"{LEFT_OUT_FILE}: left_out must be a table of row ids with a reason each")
    return MappingProxyType(table)


def read_cases(name: str, text: str) -> tuple[PublishedCase, ...]:
    """The cases of one TOML text. ValueError is one line: name (of the file), id, key, what is allowed."""
    tables = _parsed(name, text).get("case")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{name}: case must be an array of tables, [[case]]")
    settings_by_id: dict[str, Mapping[str, str]] = {}
    cases = []
    for table in tables:
        case = _case(name, table, settings_by_id)
        settings_by_id[case.id] = case.settings
        cases.append(case)
    return tuple(cases)


def _case(name: str, table: dict[str, Any], earlier: Mapping[str, Mapping[str, str]]) -> PublishedCase:
    case_id = table.get("id")
    if not isinstance(case_id, str) or not re.fullmatch(r"[RU]\d+(_[a-z0-9_]+)?", case_id):
        raise ValueError(
            f"{name}: id = {case_id!r} must be a row such as R023, then _suffix where it has several"
        )
    where = f"{name}: {case_id}"
    if case_id in earlier:
        raise ValueError(f"{where}: is listed twice")
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise ValueError(f"{where}: no such key {unknown[0]}; allowed are {', '.join(sorted(_KEYS))}")
    ratio = table.get("published_ratio")
    if ratio is not None and (
        not isinstance(ratio, int | float) or isinstance(ratio, bool) or not 0 < ratio < 1e3
    ):
        raise ValueError(f"{where}: published_ratio = {ratio!r} must be a number above 0, or absent")
    settings = _settings(where, table, earlier)
    scenario, refused = apply_settings(Scenario(), settings)
    if refused:
        raise ValueError(f"{where}: {refused[0].text}")
    texts = {key: _filled(where, key, table.get(key)) for key in _TEXTS}
    return PublishedCase(
        id=case_id,
        published_sign=cast(Sign, _one_of(where, "published_sign", table, get_args(Sign))),
        published_ratio=None if ratio is None else float(ratio),
        kind=cast(Kind, _one_of(where, "kind", table, get_args(Kind))),
        settings=settings,
        scenario=scenario,
        changed=_filled(where, "changed", table["changed"]) if "changed" in table else "",
        **texts,
    )


def _settings(
    where: str, table: dict[str, Any], earlier: Mapping[str, Mapping[str, str]]
) -> Mapping[str, str]:
    like = table.get("like")
    if like is not None and like not in earlier:
        raise ValueError(f"{where}: like = {like!r} must be the id of an earlier case of the same file")
    own = table.get("settings")
    if not isinstance(own, dict) or not own:
        raise ValueError(f"{where}: settings must be a table with at least one key, such as model.name")
    start = earlier[like] if like is not None else {}
    return MappingProxyType({**start, **{key: _shown(value) for key, value in flatten(own)}})


def _one_of(where: str, key: str, table: dict[str, Any], allowed: tuple[str, ...]) -> str:
    value = table.get(key)
    if value not in allowed:
        raise ValueError(f"{where}: {key} = {value!r} must be one of {', '.join(allowed)}")
    return str(value)


def _filled(where: str, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: {key} must be a text")
    return " ".join(value.split())


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parsed(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name}: not valid TOML: {' '.join(str(error).split())}") from error


def _text(file: str) -> str:
    return resources.files("pdexplorer.evidence.data").joinpath(file).read_text(encoding="utf-8")
