""""Cannot" is an answer: a value that names the limit, not an exception and not None."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Why something cannot run or be judged.

    limit: a short stable key (`memory`, `ttft`, `tpot`, `missing_figure`, `format`, `parallelism`, ...).
    text: one line a person reads, with the numbers and units behind it.
    """

    limit: str
    text: str
