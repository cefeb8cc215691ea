"""Fitted serving numbers written as the catalogue's efficiencies_serving.toml."""

from dataclasses import fields

from pdexplorer.evidence.serving_fit import ServingFit
from pdexplorer.physics.serving import CLASSES, NUMBERS, ServingRatios

_HEADER = """\
# What serving adds to kernel times, fitted to measured closed-loop runs;
# see physics/serving.py.
# Written by pdexplorer.evidence.serving_file; refit instead of editing. Ratios not fitted for a class are 1.
# Errors are |predicted / measured - 1| of TPOT on the runs fitted to; spread_fraction:
# their root mean square.
"""


def serving_toml(found: ServingFit, source: str) -> str:
    """Numbers of a fit as TOML; source: what it says they come from."""
    lines = [_HEADER]
    for name in CLASSES:
        ratios = found.numbers.ratios[name]
        lines.append(f"[{name}]")
        for field in fields(ServingRatios):
            value = getattr(ratios, field.name)
            if field.name in NUMBERS and value == getattr(ServingRatios(), field.name):
                continue
            if field.name == "source":
                value = f"{source}; {ratios.points} runs"
            lines.append(f"{field.name} = {_literal(value)}")
        lines.append("")
    request = ", ".join(f'"{key}" = {value:.3f}' for key, value in found.numbers.request_s.items())
    lines += [
        "[waits]",
        'kind = "fitted"',
        f'source = "{source}: mean TTFT less the replayed queue and prefill"',
        f"admission_fraction = {found.numbers.admission_fraction:.2f}",
        f"request_s = {{ {request} }}",
    ]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.4g}" if isinstance(value, float) else str(value)
