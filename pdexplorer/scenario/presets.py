"""The presets: TOML files with a title, why they are there, and only what differs from the defaults."""

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pdexplorer.scenario.keys import close_names
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings, refusals_line, shown
from pdexplorer.scenario.toml_file import read_toml, toml_settings

DEFAULT_PRESET = "rag_h100"
"""What a bare link and the page open on."""

FOLDER_VARIABLE = "PDEXPLORER_PRESETS"
"""Environment variable: a folder with a team's own presets."""

_NOT_SETTINGS = ("title", "why", "order")


@dataclass(frozen=True)
class Preset:
    """One named scenario. settings are the dotted keys its file sets; hash changes with any number in it."""

    name: str
    title: str
    why: str
    scenario: Scenario
    settings: Mapping[str, str]
    hash: str


@dataclass(frozen=True)
class Presets(Mapping[str, Preset]):
    """Presets by name, the project's own first. problems: one line for each team file left out."""

    items_by_name: Mapping[str, Preset]
    problems: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Preset:
        return self.items_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_name)

    def __len__(self) -> int:
        return len(self.items_by_name)


def load_presets(extra_folder: str | Path | None = None) -> Presets:
    """All presets: those in the package, then those of the team's folder (by default $PDEXPLORER_PRESETS)."""
    folder = extra_folder or os.environ.get(FOLDER_VARIABLE) or None
    own = _packaged()
    if folder is None:
        return Presets(own)
    found, problems = dict(own), []
    path = Path(folder)
    if not path.is_dir():
        return Presets(own, (f"{FOLDER_VARIABLE} = {shown(folder)}: not a folder",))
    for file in sorted(path.glob("*.toml")):
        try:
            preset = read_preset(file)
            if preset.name in own:
                raise ValueError(
                    f"{file}: the name {preset.name} is taken by a preset of pdexplorer; rename the file"
                )
            found[preset.name] = preset
        except ValueError as error:
            problems.append(str(error))
    return Presets(found, tuple(problems))


def preset_names() -> tuple[str, ...]:
    """Names of all presets, in the order they are shown."""
    return tuple(load_presets())


def find_preset(name: str, presets: Mapping[str, Preset]) -> Preset:
    """The preset of that name; ValueError names close ones. A name is only ever looked up, never opened."""
    if name in presets:
        return presets[name]
    raise ValueError(
        f"preset = {shown(name)}: no such preset{close_names(name, presets)}; see pdexplorer presets"
    )


def read_preset(path: Path) -> Preset:
    """A preset from a TOML file; ValueError is one line with file, key, value and what is allowed."""
    name = path.stem
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,63}", name):
        raise ValueError(f"{path}: a preset's file name is small letters, digits and underscores, then .toml")
    return _preset(name, str(path), read_toml(path))


def read_scenario(path: Path) -> Scenario:
    """A scenario from a TOML file, over the defaults; title and why may stand there too."""
    return read_titled(path)[0]


def read_titled(path: Path) -> tuple[Scenario, str, str]:
    """The same with the file's title and why, each empty where it has none."""
    table = read_toml(path)
    words = [_words(table, word, str(path)) if word in table else "" for word in ("title", "why")]
    scenario, _ = _scenario(table, str(path))
    return scenario, words[0], words[1]


def scenario_hash(scenario: Scenario) -> str:
    """Eight hex digits that change with any number of the scenario, defaults included."""
    return hashlib.sha256(scenario.model_dump_json().encode()).hexdigest()[:8]


@cache
def _packaged() -> Mapping[str, Preset]:
    found = []
    for entry in _folder().iterdir():
        if entry.name.endswith(".toml"):
            table = tomllib.loads(entry.read_text(encoding="utf-8"))
            order = table.pop("order", 1000)
            found.append((order, _preset(entry.name.removesuffix(".toml"), f"presets/{entry.name}", table)))
    return {preset.name: preset for _, preset in sorted(found, key=lambda pair: (pair[0], pair[1].name))}


def _folder() -> Traversable:
    try:
        return resources.files("pdexplorer.presets")
    except ModuleNotFoundError:
        # run from a checkout: the folder becomes part of the package only in a wheel
        return Path(__file__).resolve().parents[2] / "presets"


def _preset(name: str, where: str, table: dict[str, Any]) -> Preset:
    title, why = (_words(table, word, where) for word in ("title", "why"))
    scenario, settings = _scenario(table, where)
    return Preset(name, title, why, scenario, settings, scenario_hash(scenario))


def _words(table: Mapping[str, Any], word: str, where: str) -> str:
    text = table.get(word)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{where}: {word} = {shown(text or '')}: a preset needs a {word}, a line of text")
    return " ".join(text.split())


def _scenario(table: dict[str, Any], where: str) -> tuple[Scenario, dict[str, str]]:
    settings = toml_settings({k: v for k, v in table.items() if k not in _NOT_SETTINGS}, where)
    scenario, refused = apply_settings(Scenario(), settings)
    if refused:
        raise ValueError(f"{where}: {refusals_line(refused)}")
    return scenario, settings
