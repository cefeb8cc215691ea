"""Published results beside predictions, printed: python -m tests.benchmarks.bench_published."""

import math
from collections.abc import Sequence

import numpy as np

from pdexplorer.evidence.published_results import (
    FIRST_BALANCED_ACCURACY_FRACTION,
    PublishedResult,
    published_results,
    scorecard,
)


def main() -> None:
    card = scorecard(published_results())
    print(f"{'case':14s} {'published':>13s} {'ratio':>6s} {'predicted':>13s} {'ratio':>6s}")
    for r in card.results:
        ratios = ["" if x is None else f"{x:.2f}" for x in (r.published_ratio, r.predicted_ratio)]
        mark = "" if r.correct else f"  MISS {r.limit or r.cause}"
        print(
            f"{r.id:14s} {r.published_sign:>13s} {ratios[0]:>6s} {r.predicted_sign or 'neither can':>13s} "
            f"{ratios[1]:>6s}{mark}"
        )
    print(
        f"pays {card.pays_right}/{card.pays_listed}, does not pay "
        f"{card.does_not_pay_right}/{card.does_not_pay_listed}, balanced accuracy "
        f"{card.balanced_accuracy_fraction:.1%} (as first committed and run: "
        f"{FIRST_BALANCED_ACCURACY_FRACTION:.1%}); ratios: {ratio_error(card.results)}"
    )
    for r in card.results:
        if r.changed:
            print(f"{r.id} changed: {r.changed}")


def ratio_error(results: Sequence[PublishedResult]) -> str:
    """Predicted against published ratios, as a factor."""
    logs = [
        abs(math.log(r.predicted_ratio / r.published_ratio))
        for r in results
        if r.predicted_ratio and r.published_ratio
    ]
    return f"{len(logs)} off by a factor of {math.exp(float(np.median(logs))):.2f} in the median"


if __name__ == "__main__":
    main()
