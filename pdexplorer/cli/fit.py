"""`catalog fit`: the shipped numbers refitted to measured files."""

import sys
from collections.abc import Sequence
from pathlib import Path


def fit_catalog(files: Sequence[str], out: str | None) -> None:
    """Efficiencies fitted to kernel times, or serving numbers fitted to serving runs, as the catalogue's
    TOML; to out or to standard output. ValueError, one line, where FILES hold both or nothing to fit to.
    """
    from pdexplorer.evidence.layouts import columns_of, holds_serving

    serving = [path for path in files if holds_serving(columns_of(path))]
    if others := [path for path in files if serving and path not in serving]:
        raise ValueError(
            f"catalog fit: {serving[0]} holds serving runs and {others[0]} does not; fit kernel times first, "
            "then serving runs in a call of their own, as that fit uses the catalogue's kernel numbers"
        )
    text, said = _serving(files) if serving else _kernels(files)
    if out is None:
        print(text, end="")
    else:
        Path(out).write_text(text, encoding="utf-8")
        print(f"{said}, written to {out}")


def _kernels(files: Sequence[str]) -> tuple[str, str]:
    from pdexplorer.evidence.efficiency_file import fit_files, to_toml

    found = fit_files(list(files))
    if found.rows == 0:
        raise ValueError(f"{files[0]}: no prefill or decode row with measured kernel times to fit to")
    return to_toml(found.document), f"{found.parameters} numbers fitted to {found.rows} rows"


def _serving(files: Sequence[str]) -> tuple[str, str]:
    from pdexplorer.evidence.serving_file import fit_serving_files, serving_toml

    found = fit_serving_files(files, report=lambda text: print(text, file=sys.stderr))
    return serving_toml(found.numbers), f"{found.parameters} numbers fitted to {found.runs} serving runs"
