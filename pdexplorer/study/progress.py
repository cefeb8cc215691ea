"""How a study tells how far it is: a function that takes the share done."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Report = Callable[[float], None]
Item = TypeVar("Item")


def unheard(share: float) -> None:
    """For whoever does not ask."""


def counted(items: Sequence[Item], report: Report) -> Iterator[Item]:
    """The items; before each, the share of them that is done."""
    for at, item in enumerate(items):
        report(at / len(items))
        yield item


def span(report: Report, low: float, high: float) -> Report:
    """For a part of the work: its own share counts from low to high of the whole."""
    return lambda share: report(low + (high - low) * share)
