"""One number of the catalogue, with where it comes from."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["datasheet", "published", "measured", "fitted", "derived", "assumed", "user"]
"""datasheet: the maker's; published: a list price or report; derived: computed from other figures here;
fitted: from measurements by this project; assumed: nobody published it and we say so; user: set in a
scenario."""


@dataclass(frozen=True, slots=True)
class Figure:
    """value None: nobody published it where we looked. The unit is the one its field's name ends in."""

    value: float | None
    kind: Kind
    source: str
