"""Links to one question: short, with every value spelled out, framed, and to the live answers."""

from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from pdexplorer import MODEL_VERSION
from pdexplorer.scenario.link import to_query
from pdexplorer.scenario.presets import DEFAULT_PRESET, Preset, scenario_hash
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import flatten
from pdexplorer.texts.catalogue import LANGUAGES

VIEWS = ("cost", "map")
"""What a chart's address can show."""

FRAME_VIEWS = ("all", "verdict", "cost", "map")
"""What an embedded page can show."""

LOCAL_ADDRESS = "http://localhost:8501/"
"""Where a page stands unless it is told otherwise."""

_FRAME_HEIGHT_PX = {"all": 900, "verdict": 440, "cost": 260, "map": 440}  # of a column 800 wide
_FILE_KEYS = ("workload.trace_file",)


def base_preset(preset: Preset, presets: Mapping[str, Preset]) -> Preset:
    """The preset a link can name: the one given where the list has it, else the one a bare link opens."""
    if preset.name in presets:
        return presets[preset.name]
    return presets[DEFAULT_PRESET] if DEFAULT_PRESET in presets else next(iter(presets.values()))


def root_address(address: str) -> str:
    """The page's own address without query or fragment, ending in a slash. ValueError: not http(s)."""
    parts = urlsplit(address.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"address = {address[:80]!r}: allowed is one that starts with http:// or https://")
    path = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def short_link(root: str, scenario: Scenario, preset: Preset) -> str:
    """Only what differs from the preset."""
    return _link(root, to_query(scenario, preset))


def full_link(root: str, scenario: Scenario, preset: Preset) -> str:
    """Every value, so that the link means the same after a release that changes presets or defaults."""
    return _link(root, full_query(scenario, preset))


def full_query(scenario: Scenario, preset: Preset) -> dict[str, str]:
    """Keys and values of `full_link`. A trace file stays behind, as in every link."""
    values = {
        key: spelled(value)
        for key, value in flatten(scenario.model_dump(mode="json"))
        if value is not None and key not in _FILE_KEYS and spelled(value)
    }
    # what the preset sets and the scenario has removed (a price, an override) has to be said too
    removed = {k: v for k, v in to_query(scenario, preset).items() if k not in values}
    return {"preset": preset.name, **values, **removed, "v": MODEL_VERSION, "hash": preset.hash}


def live_address(
    root: str, route: str, scenario: Scenario, preset: Preset, view: str = "", language: str = LANGUAGES[0]
) -> str:
    """Where the page's process serves an answer: route is chart.svg, chart.png, api/v1/evaluate, memo.md."""
    query = {"view": view} if view else {}
    query |= {"lang": language} if language != LANGUAGES[0] else {}
    return _link(f"{root}{route}", query | to_query(scenario, preset))


def frame_snippet(root: str, scenario: Scenario, preset: Preset, view: str = "all") -> str:
    """HTML that shows the page within another: fixed height, loaded when scrolled to, nothing to script."""
    source = _link(root, to_query(scenario, preset) | {"view": view, "embed": "true"})
    return (
        f'<iframe src="{escape(source)}" title="{escape(preset.title)}" width="100%" '
        f'height="{_FRAME_HEIGHT_PX[view]}" loading="lazy" style="border:0"></iframe>'
    )


def file_name(scenario: Scenario, preset: Preset, what: str, suffix: str) -> str:
    """`pdexplorer-rag_h100-map.svg`; an edited scenario adds its hash, so that two edits do not collide."""
    safe = "".join(c for c in preset.name if c.isascii() and (c.isalnum() or c in "_-")) or "scenario"
    edited = "" if scenario == preset.scenario else f"-{scenario_hash(scenario)}"
    return f"pdexplorer-{safe}{edited}-{what}.{suffix}"


def spelled(value: Any) -> str:
    """A value as links write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(str(part) for part in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _link(address: str, query: Mapping[str, str]) -> str:
    return f"{address}?{urlencode(query, safe=',')}"
