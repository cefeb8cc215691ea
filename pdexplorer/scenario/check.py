"""One value against one key: its type, its bounds, the catalogue's names. Errors are one line."""

from collections.abc import Mapping
from typing import Any

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.keys import Key, close_names
from pdexplorer.scenario.plain_number import plain_number

_FLAGS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}
_LISTED = 12


def checked_value(key: Key, value: Any, catalog: Catalog) -> Any:
    """The value in the key's own type; None for its word. ValueError says what is allowed."""
    text = _plain(value)
    if key.word and (value is None or text.lower() == key.word):
        return None
    if key.type == "choice" and text in key.choices:
        return text
    if key.type == "flag" and text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    if key.type in ("number", "integer"):
        return _number(key, text)
    if key.type == "names":
        names = tuple(part.strip() for part in text.split(",") if part.strip())
        for name in names:
            _listed(name, key, catalog)
        return names
    if key.type == "text":
        return _free_text(key, text, catalog)
    raise ValueError(f"allowed is {key.allowed}{close_names(text, key.choices)}")


def family_value(key: str, value: Any, catalog: Catalog) -> float | None:
    """The value of `money.usd_per_hour.ID` or `overrides.ID.FIGURE`; None (`none`) takes an entry out."""
    money = key.startswith("money.")
    parts = key.split(".")
    if len(parts) != 3:
        raise ValueError(f"no such key; it is {'money.usd_per_hour.ID' if money else 'overrides.ID.FIGURE'}")
    accelerator, figure = (parts[2], "") if money else (parts[1], parts[2])
    if money and accelerator not in catalog.accelerators:
        raise ValueError(f"no accelerator {accelerator}{close_names(accelerator, catalog.accelerators)}")
    known = {**catalog.accelerators, **catalog.links, **catalog.engines}
    if not money and accelerator not in known:
        raise ValueError(f"no accelerator, link or engine {accelerator}{close_names(accelerator, known)}")
    text = _plain(value)
    if text.lower() == "none":
        return None
    number = plain_number(text)
    if number is None or (money and not 0 < number <= 1e5):
        raise ValueError(f"allowed is a number above 0{' up to 100,000 $/h' if money else ''}, or none")
    if not money:
        catalog.with_overrides({accelerator: {figure: number}})
    return number


def _number(key: Key, text: str) -> float | int:
    number = plain_number(text)
    if number is None or (key.type == "integer" and not number.is_integer()):
        raise ValueError(f"allowed is {key.allowed}")
    below = key.minimum is not None and (number <= key.minimum if key.open_minimum else number < key.minimum)
    if below or (key.maximum is not None and number > key.maximum):
        raise ValueError(f"allowed is {key.allowed}")
    return int(number) if key.type == "integer" else number


def _free_text(key: Key, text: str, catalog: Catalog) -> str:
    if key.catalogue:
        _listed(text, key, catalog)
    elif key.field == "currency" and not (
        len(text) == 3 and text.isascii() and text.isalpha() and text.isupper()
    ):
        raise ValueError(f"allowed is {key.allowed}")
    elif len(text) > 4096 or not text.isprintable():
        raise ValueError("allowed is a text of at most 4,096 printable characters")
    return text


def _listed(name: str, key: Key, catalog: Catalog) -> None:
    lists: Mapping[str, Mapping[str, object]] = {
        "accelerators": catalog.accelerators,
        "models": catalog.models,
        "links": catalog.links,
        "engines": catalog.engines,
    }
    known = lists[key.catalogue]
    if name not in known:
        close = close_names(name, known)
        if not close and len(known) <= _LISTED:
            close = f": {', '.join(known)}"
        raise ValueError(f"allowed is {key.allowed}{close}")


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    return str(value).strip()
