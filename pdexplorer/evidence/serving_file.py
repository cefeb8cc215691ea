"""Fitted serving numbers written as the catalogue's efficiencies_serving.toml, and the fit of that file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.serving_fit import ServingFit, fit_serving, references
from pdexplorer.evidence.serving_points import ServingPoint, read_serving
from pdexplorer.evidence.serving_predict import ServingNumbers
from pdexplorer.evidence.serving_setup import SETUPS, named_outlier
from pdexplorer.evidence.serving_split import SplitNumbers
from pdexplorer.evidence.serving_split_fit import with_split
from pdexplorer.physics.serving import NUMBERS

_HEADER = """\
# What serving adds to kernel times, fitted to measured closed-loop runs; see physics/serving.py.
# Written by `pdexplorer catalog fit`; refit instead of editing.
# Ratios are serving time over table time of a group of kernels; those of a class of models and of a family of
# accelerators multiply them, "hopper fp8" is a family and a format, "vllm dense" an engine and a class.
# Errors are |predicted / measured - 1| of TPOT on the runs fitted to, spread_fraction their root mean square.
"""


def fit_serving_files(
    files: Sequence[str | Path],
    catalog: Catalog | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> ServingFit:
    """All serving numbers, of colocated and of split fleets, fitted to files laid out as serving.csv, over
    the kernel numbers of the catalogue. ValueError, one line, for a row that cannot be read or for no
    colocated run to fit to. report: told what is done, as it takes a minute or two.
    """
    catalogue = catalog or load_catalog()
    points = [point for path in files for point in read_serving(path, catalogue)]
    names = " and ".join(Path(path).name for path in files)
    colocated = [point for point in points if point.colocated is not None]
    if not any(_fitted(point) for point in colocated):
        raise ValueError(f"{names}: no colocated run to fit to, of known names and launch and no outlier")
    report(f"replaying {len(colocated)} colocated runs before any fit")
    known = references(colocated, catalogue)
    report(f"fitting to {int(known.runs.use.sum())} runs")
    whose = "its" if len(files) == 1 else "their"
    found = fit_serving(known, source=f"{names}, colocated runs but {whose} named outliers")
    split = sum(1 for point in points if point.prefill is not None)
    report(f"split fleets: {split} runs, replayed anew for each value tried")
    numbers = with_split(points, found.numbers, catalogue)
    return replace(found, numbers=numbers, parameters=numbers.count)


def _fitted(point: ServingPoint) -> bool:
    return point.engine in SETUPS and not named_outlier(point)


def serving_toml(numbers: ServingNumbers) -> str:
    """The numbers of a fit as TOML."""
    ratios = numbers.ratios
    table = {name: getattr(ratios.kernels, name) for name in NUMBERS}
    record = ("kind", "source", "points", "median_error_fraction", "p90_error_fraction", "spread_fraction")
    rest = {name: getattr(ratios, name) for name in ("young", *record)}
    waits = {"kind": ratios.kind, "source": ratios.source, "draft_acceptance": numbers.draft_acceptance}
    sections: dict[str, Mapping[str, object]] = {
        "kernels": {**table, **rest},
        **{f"by_class.{name}": factors for name, factors in ratios.by_class.items()},
        **{f"by_family.{name}": factors for name, factors in ratios.by_family.items()},
        "compute_by_format": ratios.compute_by_format,
        "overhead": ratios.overhead,
        "waits": waits,
        "waits.request_s": numbers.request_s,
        "waits.compile_s": numbers.compile_s,
        "waits.split": {entry.name: getattr(numbers.split, entry.name) for entry in fields(SplitNumbers)},
    }
    return _HEADER + "".join(_section(name, values) for name, values in sections.items())


def _section(name: str, values: Mapping[str, object]) -> str:
    lines = [f"{_key(key)} = {_literal(value)}" for key, value in values.items()]
    return f"\n[{name}]\n" + "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.4g}" if isinstance(value, float) else str(value)
