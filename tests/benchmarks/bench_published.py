"""Published results beside predictions, printed: python -m tests.benchmarks.bench_published."""

from pdexplorer.evidence.published_results import published_results, scorecard


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
        f"{card.balanced_accuracy_fraction:.1%}"
    )


if __name__ == "__main__":
    main()
