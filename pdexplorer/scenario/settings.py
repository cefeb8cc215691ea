"""Dotted keys in, a scenario out: one reader for links, `--set`, preset files and the page.

A key that cannot be used is refused with a reason and takes the base's value; the rest still apply.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.scenario.check import checked_value, family_value
from pdexplorer.scenario.keys import close_names, key_families, keys
from pdexplorer.scenario.scenario import Scenario

_SHOWN = 80
_EXPLAINED = 3
_NO_SUCH_KEY = "no such key"
_ARCHITECTURE = "model.architecture"


@dataclass(frozen=True)
class Refusal:
    """A setting that was not used. why says what is allowed, in one line."""

    key: str
    value: str
    why: str

    @property
    def text(self) -> str:
        """One line: key, value, reason."""
        if self.why.startswith(f"{self.key} = "):
            return self.why
        return f"{shown(self.key)} = {shown(self.value)}: {self.why}"


def shown(value: object) -> str:
    """A value as an error text shows it: one line, not too long."""
    text = " ".join(str(value).split()) or "(empty)"
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def refusals_line(refused: Sequence[Refusal]) -> str:
    """For a shell: the first refusals with their reasons on one line, the keys of the next few, and how many
    there are. What several of them point to stands after the last.
    """
    hints = [_where_listed(each) for each in refused[:_EXPLAINED]]
    told = "; ".join(
        each.text + ("" if hint in hints[number + 1 :] else hint)
        for number, (each, hint) in enumerate(zip(refused, hints, strict=False))
    )
    rest = refused[_EXPLAINED:]
    keys_only = ", ".join(shown(each.key) for each in rest[:_EXPLAINED])
    return f"{told} (and {len(rest)} more: {keys_only})" if rest else told


def _where_listed(refusal: Refusal) -> str:
    """Which command lists what may stand there; empty where the reason says it already."""
    if refusal.why == _NO_SUCH_KEY:
        return "; pdexplorer evaluate PRESET --json lists all keys, under scenario"
    known = keys().get(refusal.key)
    kind = known.catalogue if known else ""
    if refusal.why.startswith("no accelerator "):
        kind = "accelerators"
    command = {"links": "networks"}.get(kind, kind)
    return f"; pdexplorer catalog {command} lists them" if command and command != "engines" else ""


def apply_settings(
    base: Scenario, settings: Mapping[str, Any], catalog: Catalog | None = None
) -> tuple[Scenario, tuple[Refusal, ...]]:
    """The base with the settings applied, and what was refused. Never raises for a bad setting.

    A P95 that the base holds moves with its mean when only the mean is set: 4,000/10,000 at 8,000 is 20,000.
    """
    catalog = catalog or load_catalog()
    refused: list[Refusal] = []
    accepted: dict[str, Any] = {}
    for key, value in settings.items():
        try:
            accepted[key] = _accept(key, value, catalog)
        except ValueError as error:
            refused.append(Refusal(key, str(value), str(error)))
    while True:
        try:
            return Scenario.model_validate(_merge(base, accepted, catalog)), tuple(refused)
        except ValidationError as error:
            offender, why = _offender(error, accepted)
        accepted.pop(offender)
        refused.append(Refusal(offender, str(settings[offender]), why))


def diff(scenario: Scenario, base: Scenario, catalog: Catalog | None = None) -> dict[str, str]:
    """The settings that turn base into scenario, as texts. apply_settings on base gives scenario exactly."""
    catalog = catalog or load_catalog()
    old, new = _flat(base, catalog), _flat(scenario, catalog)
    if base.model.architecture is None and scenario.model.architecture is not None:
        # a model of one's own is told as its difference from the named one, so that links stay short
        named = catalog.models.get(scenario.model.name)
        old |= _flat_architecture(named) if named else {}
    found = {key: value for key, value in new.items() if old.get(key) != value}
    for key in old:
        if key not in new and (key.startswith(("overrides.", "money.usd_per_hour."))):
            found[key] = "none"
    if base.model.architecture is not None and scenario.model.architecture is None:
        found = {k: v for k, v in found.items() if not k.startswith(_ARCHITECTURE)} | {_ARCHITECTURE: "none"}
    own = scenario.model.architecture
    if own and not base.model.architecture and not any(k.startswith(f"{_ARCHITECTURE}.") for k in found):
        found[f"{_ARCHITECTURE}.name"] = own.name
    for mean, p95 in _MEANS.items():
        if mean in found:
            follows = _following_p95(base, mean, float(found[mean]))
            if new[p95] == (_text(follows) if follows is not None else "auto"):
                found.pop(p95, None)
            else:
                found[p95] = new[p95]
    return found


def flatten(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Tables within tables as dotted keys: {"slo": {"ttft_s": 1}} gives ("slo.ttft_s", 1)."""
    for key, value in nested.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{name}.")
        else:
            yield name, value


_MEANS = {
    "workload.input_tokens": "workload.input_p95_tokens",
    "workload.output_tokens": "workload.output_p95_tokens",
}


def _accept(key: str, value: Any, catalog: Catalog) -> Any:
    if key == _ARCHITECTURE:
        if str(value).strip().lower() != "none":
            raise ValueError(
                "only none is allowed here; single fields are model.architecture.layers and so on"
            )
        return None
    if key.startswith(("overrides.", "money.usd_per_hour.")) or key in ("overrides", "money.usd_per_hour"):
        return family_value(key, value, catalog)
    within = [name for name in keys() if name.startswith(f"{key}.")]
    if within:
        raise ValueError(f"{_NO_SUCH_KEY} (close: {', '.join(within[:3])})")
    if key not in keys():
        raise ValueError(f"{_NO_SUCH_KEY}{close_names(key, [*keys(), *key_families()])}")
    return checked_value(keys()[key], value, catalog)


def _merge(base: Scenario, accepted: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    data = base.model_dump()
    if _ARCHITECTURE in accepted:
        data["model"]["architecture"] = None
    for key, value in accepted.items():
        head, _, tail = key.partition(".")
        if key.startswith("overrides."):
            accelerator, _, figure = tail.partition(".")
            table = data["overrides"].setdefault(accelerator, {})
            _put(table, figure, value)
            if not table:
                del data["overrides"][accelerator]
        elif key.startswith("money.usd_per_hour."):
            _put(data["money"]["usd_per_hour"], tail.partition(".")[2], value)
        elif key.startswith(_ARCHITECTURE):
            continue
        else:
            data[head][tail] = value
    own = {k.rsplit(".", 1)[-1]: v for k, v in accepted.items() if k.startswith(f"{_ARCHITECTURE}.")}
    if own:
        start = data["model"]["architecture"]
        if start is None:
            named = catalog.models.get(data["model"]["name"])
            start = named.model_dump() if named else {}
        data["model"]["architecture"] = start | own
    for mean, p95 in _MEANS.items():
        if mean in accepted and p95 not in accepted:
            follows = _following_p95(base, mean, accepted[mean])
            data["workload"][p95.partition(".")[2]] = follows
    return data


def _put(table: dict[str, float], name: str, value: float | None) -> None:
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value


def _following_p95(base: Scenario, mean_key: str, mean: float) -> float | None:
    field = mean_key.partition(".")[2]
    held = getattr(base.workload, field.replace("_tokens", "_p95_tokens"))
    before: float = getattr(base.workload, field)
    return None if held is None else max(mean, min(held / before * mean, 4 * mean, 4e6))


def _offender(error: ValidationError, accepted: Mapping[str, Any]) -> tuple[str, str]:
    """The setting to give up for one error across fields, and the error as one line."""
    first = error.errors(include_url=False)[0]
    text = str(first["msg"]).removeprefix("Value error, ")
    location = ".".join(str(part) for part in first["loc"])
    if location in accepted:
        return location, text
    named = [k for k in accepted if f"{k} " in text]
    if location == _ARCHITECTURE:
        named = [k for k in accepted if k.startswith(location) and f"{k.rsplit('.', 1)[-1]} " in text]
    if named:
        return min(named, key=lambda k: text.find(k)), text
    traced = [k for k, v in accepted.items() if v == "trace"]
    if "trace_file" in text and traced:
        return traced[-1], "needs workload.trace_file, which a file or a shell gives and a link cannot"
    block = f"{location}." if location else ""
    return _last(accepted, block), text


def _last(accepted: Mapping[str, Any], prefix: str) -> str:
    names = list(accepted)
    return next((name for name in reversed(names) if name.startswith(prefix)), names[-1])


def _flat(scenario: Scenario, catalog: Catalog) -> dict[str, str]:
    data = scenario.model_dump()
    architecture = data["model"].pop("architecture")
    flat = {key: _text(value) for key, value in flatten(data)}
    if architecture is not None and scenario.model.architecture is not None:
        flat |= _flat_architecture(scenario.model.architecture)
    return flat


def _flat_architecture(architecture: Architecture) -> dict[str, str]:
    return {f"{_ARCHITECTURE}.{k}": _text(v) for k, v in architecture.model_dump().items()}


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
