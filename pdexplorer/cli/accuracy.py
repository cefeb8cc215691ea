"""`accuracy`: how far predictions are from a measured file."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pdexplorer.evidence.accuracy import ErrorLine
    from pdexplorer.evidence.scored import ScoredFile


def add_accuracy(commands: Any) -> None:
    """The `accuracy` command's arguments."""
    parser = commands.add_parser("accuracy", help="errors of the predictions on a measured file")
    parser.add_argument("file", metavar="FILE", help="step times, mixed steps, serving runs or engine runs")
    parser.add_argument("--by", metavar="KEYS", default="", help="also by system,engine,model,format,...")
    parser.add_argument("--out", metavar="ROWS.csv", help="write every row back with its prediction")
    parser.add_argument(
        "--held-out", action="store_true", help="refit without each row's group first (minutes)"
    )
    parser.add_argument("--json", action="store_true", help="the table as JSON")


def run_accuracy(arguments: argparse.Namespace) -> None:
    """`accuracy` as parsed."""
    accuracy(arguments.file, arguments.by, arguments.out, arguments.json, arguments.held_out)


def accuracy(
    path: str, by: str = "", out: str | None = None, as_json: bool = False, held_out: bool = False
) -> None:
    """Prints the table of errors; out: writes every row back with what was predicted for it."""
    from pdexplorer.evidence.accuracy import error_lines, rows_out, score_file
    from pdexplorer.evidence.methodology import parameter_counts
    from pdexplorer.evidence.numbers_used import numbers_used
    from pdexplorer.evidence.scored import not_read_line
    from pdexplorer.evidence.steptime import write_rows
    from pdexplorer.export.json_text import json_text

    _regular(path)
    keys = [key.strip() for key in by.split(",") if key.strip()]
    scored = score_file(path, held_out, report=lambda text: print(text, file=sys.stderr))
    lines = error_lines(scored, keys)
    if out is not None:
        write_rows(rows_out(scored), out)
    if as_json:
        print(json_text(_document(Path(path), scored, lines, keys)))
        return
    for text in _table(lines, keys):
        print(text)
    if unread := not_read_line(Path(path).name, scored):
        print(unread)
    counts = parameter_counts()
    print(
        f"fitted numbers in use: {counts['kernels']} from kernel times, {counts['serving']} from serving runs"
    )
    for text in numbers_used(scored):
        print(text)
    print("held out: each row by a fit without its group" if held_out else scored.fitted_on)
    print(f"unseen rows: {scored.outside}")
    if out is not None:
        print(f"{len(scored.rows)} rows written to {out}")


def _regular(path: str) -> None:
    file = Path(path)
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise ValueError(f"{path}: is a device or a pipe, not a CSV file")


def _document(
    path: Path, scored: "ScoredFile", lines: "Sequence[ErrorLine]", keys: Sequence[str]
) -> dict[str, object]:
    from pdexplorer.evidence.methodology import parameter_counts
    from pdexplorer.evidence.numbers_used import numbers_used
    from pdexplorer.evidence.scored import not_read_line

    return {
        "layout": scored.layout,
        "fitted_on": scored.fitted_on,
        "unseen_rows": scored.outside,
        "not_read": not_read_line(path.name, scored),
        "fitted_numbers": parameter_counts(),
        "numbers_used": numbers_used(scored),
        "errors": [
            {
                "split": line.group[0],
                **dict(zip(keys, line.group[1:], strict=True)),
                "quantity": line.quantity,
                "rows": line.rows,
                "answered_fraction": line.answered_fraction,
                "median": line.median,
                "mean": line.mean,
                "p90": line.p90,
                "mean_log_ratio": line.mean_log_ratio if line.answered else None,
            }
            for line in lines
        ],
    }


def _table(lines: "Sequence[ErrorLine]", keys: Sequence[str]) -> list[str]:
    head = ("split", *keys, "quantity", "n", "answered", "median", "mean", "P90", "mean log ratio")
    cells = [
        (
            *line.group,
            line.quantity,
            f"{line.rows}",
            f"{line.answered_fraction:.1%}",
            f"{line.median:.1%}",
            f"{line.mean:.1%}",
            f"{line.p90:.1%}",
            f"{line.mean_log_ratio:+.3f}" if line.answered else "-",
        )
        for line in lines
    ]
    widths = [max(len(row[i]) for row in (head, *cells)) for i in range(len(head))]
    texts = len(keys) + 2
    return [
        "  ".join(
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *cells)
    ]
