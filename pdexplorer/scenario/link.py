"""Links: `?preset=NAME&workload.input_tokens=32000&v=0.1&hash=1a2b3c4d`, only what differs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from pdexplorer import MODEL_VERSION
from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.presets import DEFAULT_PRESET, Preset, find_preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import Refusal, apply_settings, diff, shown

RESERVED = ("preset", "v", "hash", "view", "lang", "a", "embed")
"""Keys of a link that are not settings of its scenario."""

MAX_LINK_CHARACTERS = 64_000
MAX_KEYS = 500
_STREAMLIT_OWN = ("embed_options",)
_FILE_KEYS = ("workload.trace_file",)


@dataclass(frozen=True)
class LinkResult:
    """What a link says. changed: one line for each thing that is no longer as when the link was made."""

    preset: Preset
    scenario: Scenario
    refused: tuple[Refusal, ...] = ()
    changed: tuple[str, ...] = ()


def parse_link(link: str, presets: Mapping[str, Preset], catalog: Catalog | None = None) -> LinkResult:
    """A full URL, or only its query with or without `?`. Never raises: what cannot be used is refused."""
    if len(link) > MAX_LINK_CHARACTERS:
        why = f"allowed are {MAX_LINK_CHARACTERS:,} characters; this has {len(link):,}"
        return LinkResult(_first(presets), _first(presets).scenario, (Refusal("link", link[:40], why),))
    try:
        pairs = parse_qsl(_query_of(link), keep_blank_values=True, max_num_fields=MAX_KEYS)
    except ValueError:
        why = f"allowed are {MAX_KEYS} keys"
        return LinkResult(_first(presets), _first(presets).scenario, (Refusal("link", link, why),))
    return _parse(pairs, presets, catalog)


def parse_query(
    query: Mapping[str, str | Iterable[str]], presets: Mapping[str, Preset], catalog: Catalog | None = None
) -> LinkResult:
    """The same from decoded keys and values; a value may be a list where a key stood there more than once."""
    pairs = [
        (key, text)
        for key, value in query.items()
        for text in ([value] if isinstance(value, str) else list(value))
    ]
    return _parse(pairs, presets, catalog)


def unknown_choice(key: str, value: str | None, allowed: Sequence[str]) -> tuple[Refusal, ...]:
    """A reserved key's value refused, where it stands in the link and is none of those allowed."""
    if value is None or value in allowed:
        return ()
    return (Refusal(key, value, f"allowed is one of {', '.join(allowed)}"),)


def to_query(scenario: Scenario, preset: Preset, catalog: Catalog | None = None) -> dict[str, str]:
    """Preset, what differs from it, model version and the preset's hash. A trace file stays behind."""
    differs = {k: v for k, v in diff(scenario, preset.scenario, catalog).items() if k not in _FILE_KEYS}
    return {"preset": preset.name, **differs, "v": MODEL_VERSION, "hash": preset.hash}


def to_link(scenario: Scenario, preset: Preset, address: str = "", catalog: Catalog | None = None) -> str:
    """`ADDRESS?preset=…` with everything percent-encoded that needs it."""
    return f"{address}?{urlencode(to_query(scenario, preset, catalog), safe=',')}"


def is_link(text: str) -> bool:
    """Whether a shell argument is meant as a link rather than a name or a file."""
    return "://" in text or text.startswith("?") or text.startswith("preset=") or "&" in text


def _query_of(link: str) -> str:
    text = link.strip()
    before, mark, after = text.partition("?")
    if mark and "=" not in before:
        text = after
    elif "://" in text:
        text = ""
    return text.partition("#")[0]


def _parse(
    pairs: list[tuple[str, str]], presets: Mapping[str, Preset], catalog: Catalog | None
) -> LinkResult:
    values: dict[str, str] = {}
    refused: list[Refusal] = []
    for key, value in pairs:
        if key in values:
            refused.append(
                Refusal(shown(key), values[key], "stands there more than once; the last one counts")
            )
        values[key] = value
    preset = _first(presets)
    if "preset" in values:
        try:
            preset = find_preset(values["preset"], presets)
        except ValueError as error:
            why = str(error).partition(": ")[2]
            refused.append(Refusal("preset", values["preset"], why))
    settings = {}
    for key, value in values.items():
        if key in _FILE_KEYS:
            refused.append(
                Refusal(key, value, "a file is named in a shell or a scenario file, never in a link")
            )
        elif key not in RESERVED and key not in _STREAMLIT_OWN:
            settings[key] = value
    scenario, bad = apply_settings(preset.scenario, settings, catalog)
    return LinkResult(preset, scenario, (*refused, *bad), _changed(values, preset))


def _changed(values: Mapping[str, str], preset: Preset) -> tuple[str, ...]:
    found = []
    version, digest = values.get("v", MODEL_VERSION), values.get("hash", preset.hash)
    if version != MODEL_VERSION:
        found.append(
            f"This link was made with model version {shown(version)}; this is {MODEL_VERSION}: "
            "numbers may differ."
        )
    if digest != preset.hash and values.get("preset", preset.name) == preset.name:
        found.append(
            f"The preset {preset.name} has changed since this link was made "
            f"({shown(digest)}, now {preset.hash}): numbers the link does not spell out may differ."
        )
    return tuple(found)


def _first(presets: Mapping[str, Preset]) -> Preset:
    return presets[DEFAULT_PRESET] if DEFAULT_PRESET in presets else next(iter(presets.values()))
