"""How one field of a scenario is typed: finite numbers, `auto`, and tuples written with commas."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

AUTO = "auto"
"""How "work it out for me" is written in a link, a file and a shell; None inside."""

NONE = "none"
"""How "no limit" is written; None inside."""


WeightFormat = Literal["bf16", "fp8", "fp8_block", "int8", "int4", "mxfp4", "nvfp4", "fp8_mxfp4"]
"""How weights are stored; what a chip computes them in follows from its units."""


@dataclass(frozen=True)
class Word:
    """Marks a field that also takes this word, for lists of what is allowed."""

    word: str


class Block(BaseModel):
    """A frozen group of fields; unknown keys, infinities and NaN are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)


def _from_word(word: str) -> BeforeValidator:
    def convert(value: Any) -> Any:
        return None if isinstance(value, str) and value.strip().lower() == word else value

    return BeforeValidator(convert)


def _to_word(word: str) -> PlainSerializer:
    def convert(value: Any) -> Any:
        return word if value is None else value

    return PlainSerializer(convert)


def _split_commas(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


AutoInt = Annotated[int | None, Word(AUTO), _from_word(AUTO), _to_word(AUTO)]
AutoFloat = Annotated[float | None, Word(AUTO), _from_word(AUTO), _to_word(AUTO)]
AutoStr = Annotated[str | None, Word(AUTO), _from_word(AUTO), _to_word(AUTO)]
AutoWeightFormat = Annotated[WeightFormat | None, Word(AUTO), _from_word(AUTO), _to_word(AUTO)]
LimitFloat = Annotated[float | None, Word(NONE), _from_word(NONE), _to_word(NONE)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
