"""The texts of one language by id: `Texts("zh").text("verdict.disaggregate")`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from pdexplorer.scenario.presets import Preset
from pdexplorer.texts.chinese import CHINESE
from pdexplorer.texts.chinese_evidence import EVIDENCE as CHINESE_EVIDENCE
from pdexplorer.texts.chinese_exports import CHINESE_EXPORTS
from pdexplorer.texts.chinese_fields import CHOICES as CHINESE_CHOICES
from pdexplorer.texts.chinese_fields import FIELDS as CHINESE_FIELDS
from pdexplorer.texts.chinese_fields import HELP as CHINESE_HELP
from pdexplorer.texts.chinese_presets import PRESETS
from pdexplorer.texts.chinese_sentences import in_chinese
from pdexplorer.texts.chinese_studies import CHINESE_STUDIES
from pdexplorer.texts.chinese_tabs import CHINESE_TABS
from pdexplorer.texts.english import ENGLISH
from pdexplorer.texts.english_evidence import EVIDENCE
from pdexplorer.texts.english_exports import ENGLISH_EXPORTS
from pdexplorer.texts.english_fields import CHOICES, FIELDS
from pdexplorer.texts.english_studies import ENGLISH_STUDIES
from pdexplorer.texts.english_tabs import ENGLISH_TABS

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Texts:
    """How things are said in one of LANGUAGES."""

    language: str = LANGUAGES[0]

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ValueError(f"lang = {self.language[:40]!r}: allowed is one of {', '.join(LANGUAGES)}")

    def text(self, key: str, /, **values: object) -> str:
        """The text of that id with its values filled in; KeyError for an id nobody wrote."""
        words = catalogue(self.language)[key]
        return words.format(**values) if values or "{" in words else words

    def choice(self, key: str, value: str) -> str:
        """How a choice of a field reads; the value as links write it where it has no text of its own."""
        texts = catalogue(self.language)
        return texts.get(f"choice.{key}.{value}", texts.get(f"choice.{value}", value))

    def described(self, key: str, english: str) -> str:
        """A field's explanation: english is what the scenario itself says of it."""
        return catalogue(self.language).get(f"help.{key}", english)

    def said(self, words: str) -> str:
        """A sentence of the model or of a reader, in this language where it is known there."""
        return in_chinese(words) if self.language == "zh" else words

    def preset(self, preset: Preset) -> tuple[str, str]:
        """A preset's title and why it is there; a team's own as its file says."""
        own = PRESETS.get(preset.name) if self.language == "zh" else None
        return own or (preset.title, preset.why)


def left_out(texts: Texts) -> tuple[str, ...]:
    """What the model leaves out, a sentence each."""
    keys = [key for key in catalogue(texts.language) if key.startswith("method.left_out_")]
    return tuple(texts.text(key) for key in keys)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """All texts of a language by id."""
    blocks = {
        "en": (
            ENGLISH,
            {**ENGLISH_TABS, **ENGLISH_STUDIES, **ENGLISH_EXPORTS},
            FIELDS,
            {**CHOICES, **EVIDENCE},
            {},
        ),
        "zh": (
            CHINESE,
            {**CHINESE_TABS, **CHINESE_STUDIES, **CHINESE_EXPORTS},
            CHINESE_FIELDS,
            {**CHINESE_CHOICES, **CHINESE_EVIDENCE},
            CHINESE_HELP,
        ),
    }[language]
    first, tabs, fields, choices, helps = blocks
    return MappingProxyType(
        {
            **first,
            **tabs,
            **{f"field.{key}": value for key, value in fields.items()},
            **{f"choice.{key}": value for key, value in choices.items()},
            **{f"help.{key}": value for key, value in helps.items()},
        }
    )
