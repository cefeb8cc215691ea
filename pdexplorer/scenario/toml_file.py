"""A TOML file as dotted settings, or one line that says what is wrong with it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.settings import flatten, shown

MAX_FILE_BYTES = 1_000_000
_MOST_BITS = 1024
"""An integer longer than this is above every float."""


def read_toml(path: Path) -> dict[str, Any]:
    """One TOML table; ValueError in one line for what is not a readable file of sensible size."""
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a TOML file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: is a device or a pipe, not a TOML file")
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ValueError(f"{path}: {size:,} bytes; a scenario file has at most {MAX_FILE_BYTES:,}")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text, so not TOML") from error
    if not text.strip():
        raise ValueError(f"{path}: is empty; a scenario file sets at least one key, such as [slo] ttft_s = 1")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not valid TOML: {shown(error)}") from error
    except RecursionError as error:
        raise ValueError(f"{path}: not valid TOML: nested too deeply") from error
    except ValueError as error:  # Python turns no text of thousands of digits into an integer
        raise ValueError(
            f"{path}: {_longest_number_key(text)}: allowed is a number, not thousands of digits"
        ) from error


def toml_settings(table: Mapping[str, Any], where: str) -> dict[str, str]:
    """The table's values as texts by dotted key. ValueError names the file for what no key can take."""
    settings: dict[str, str] = {}
    try:
        flat = list(flatten(table))
    except RecursionError as error:  # tomllib reads dotted keys of any depth
        raise ValueError(f"{where}: not valid TOML: nested too deeply") from error
    for key, value in flat:
        if key in settings:
            raise ValueError(f"{where}: {shown(key)}: set twice, in a table and as a dotted key; set it once")
        settings[key] = _text(key, value, where)
    return settings


def _text(key: str, value: Any, where: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError(f"{where}: {shown(key)}: allowed is a number, not thousands of digits")
    if not isinstance(value, list):
        return str(value)
    if any(isinstance(part, Mapping) for part in value):
        name = shown(key)
        raise ValueError(f"{where}: {name} is an array of tables; write [{name}] once, not [[{name}]]")
    known = keys().get(key)
    nested = any(isinstance(part, list) for part in value)
    if known is not None and (known.type != "names" or nested):
        raise ValueError(
            f"{where}: {shown(key)} is a list{' of lists' if nested else ''}: allowed is {known.allowed}"
        )
    return ",".join(_text(key, part, where) for part in value)


def _longest_number_key(text: str) -> str:
    """Dotted key of the line with the longest run of digits; good enough to find it in the file."""
    table, found, longest = "", "", 0
    for line in text.splitlines():
        if heading := re.match(r"\s*\[+([^\]]*)\]", line):
            table = heading[1].strip()
        digits = max((len(run.replace("_", "")) for run in re.findall(r"[0-9][0-9_]*", line)), default=0)
        if digits > longest:
            key = line.partition("=")[0].strip() if "=" in line else ""
            found, longest = ".".join(part for part in (table, key) if part), digits
    return shown(found)
