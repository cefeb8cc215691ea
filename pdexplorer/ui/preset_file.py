"""A scenario as a preset's TOML file, and saving it in a team's folder: whole or not at all."""

import json
import os
import re
import tempfile
from pathlib import Path

from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.presets import FOLDER_VARIABLE, load_presets, read_preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import diff

_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
_NUMBERS = ("number", "integer")


def preset_toml(scenario: Scenario, title: str, why: str) -> str:
    """Only what differs from the defaults, as `presets/*.toml` are written; a trace file stays behind."""
    lines = [f"title = {_quoted(title)}", f"why = {_quoted(why)}", ""]
    settings = {k: v for k, v in diff(scenario, Scenario()).items() if k != "workload.trace_file"}
    lines += [f"{key} = {_value(key, value)}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


def team_folder() -> Path | None:
    """Where presets can be saved; None where the variable names no writable folder."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or "/nonexistent")
    return folder if folder.is_dir() and os.access(folder, os.W_OK) else None


def save_preset(folder: Path, name: str, content: str, replace: bool = False) -> Path:
    """Writes NAME.toml so that a reader sees the old file or the new one, never half of it.

    ValueError in one line: a bad name, a name that is taken (replace allows a team's own), a file that would
    not read back.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"name = {name[:80]}: allowed are small letters, digits and underscores, at most 64")
    path = folder / f"{name}.toml"
    if name in load_presets(folder) and not path.exists():
        raise ValueError(f"name = {name}: taken by a preset of pdexplorer; choose another")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".saving_") as beside:
        draft = Path(beside) / f"{name}.toml"
        draft.write_text(content, encoding="utf-8")
        read_preset(draft)
        try:
            if replace:
                os.replace(draft, path)
            else:
                os.link(draft, path)
        except FileExistsError:
            raise ValueError(f"name = {name}: is there already; choose another or replace it") from None
        except OSError as error:
            raise ValueError(f"name = {name}: cannot be written ({error.strerror or error})") from error
    return path


def _value(key: str, value: str) -> str:
    known = keys().get(key)
    numeric = key.startswith(("overrides.", "money.usd_per_hour.")) or (
        known is not None and known.type in _NUMBERS
    )
    if numeric and value not in ("auto", "none"):
        return value
    if known is not None and known.type == "flag":
        return value
    if known is not None and known.type == "names":
        return "[" + ", ".join(_quoted(part) for part in value.split(",") if part) + "]"
    return _quoted(value)


def _quoted(words: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's too."""
    return json.dumps(" ".join(words.split()), ensure_ascii=False).replace("\x7f", "\\u007f")
