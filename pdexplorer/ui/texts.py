"""Every text a person reads on the page, by id: `text("verdict.disaggregate", gain="1.4")`."""

from functools import cache
from types import MappingProxyType

from pdexplorer.ui.english import ENGLISH
from pdexplorer.ui.english_fields import CHOICES, FIELDS

LANGUAGES = ("en",)


@cache
def catalogue(language: str) -> MappingProxyType[str, str]:
    """All texts of a language by id."""
    fields = {f"field.{key}": value for key, value in FIELDS.items()}
    choices = {f"choice.{key}": value for key, value in CHOICES.items()}
    return MappingProxyType({**ENGLISH, **fields, **choices})


def text(key: str, /, *, language: str = "en", **values: object) -> str:
    """The text of that id with its values filled in; KeyError for an id nobody wrote."""
    return catalogue(language)[key].format(**values)


def choice_text(key: str, value: str, language: str = "en") -> str:
    """How a choice of a field reads: its own text where there is one, else the value as links write it."""
    texts = catalogue(language)
    return texts.get(f"choice.{key}.{value}", texts.get(f"choice.{value}", value))


def plain(words: str) -> str:
    """The words with nothing in them taken for markup: values from links and errors are other people's
    text.
    """
    for mark in "\\`*_{}[]<>#+-!|~$:":
        words = words.replace(mark, "\\" + mark)
    return " ".join(words.split())
