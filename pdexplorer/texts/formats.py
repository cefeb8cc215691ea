"""Numbers as the page writes them: three digits, thousands separated, with their unit."""

_UNITS = {
    "/s": "req/s",
    "requests/s": "req/s",
    "$": "USD",
    "$/h": "USD/h",
    "$/month": "USD/month",
    "$/kWh": "USD/kWh",
    "$/NIC/h": "USD/NIC/h",
    "requests in flight": "req",
}


def number(value: float) -> str:
    """1,240 · 41.2 · 4.13 · 0.041."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    shown = f"{value:.3g}"
    return shown if "e" not in shown else f"{value:.2e}"


def rounded(value: float) -> str:
    """Three digits whatever the size: 1,810,000. For what is estimated; `number` keeps whole tokens."""
    return number(float(f"{value:.3g}"))


def ratio_text(value: float) -> str:
    """A gain: two decimals up to 10, one beyond."""
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}"


def percent(value: float) -> str:
    """A share of one as a whole percentage, one decimal below ten."""
    shown = value * 100
    if 0 < abs(shown) < 0.05:
        return "< 0.1 %"
    return f"{shown:.0f} %" if abs(shown) >= 10 or shown == round(shown) else f"{shown:.1f} %"


def percent_change(value: float) -> str:
    """A change with its sign, as a metric's delta wants it; a plain hyphen marks a fall."""
    shown = value * 100
    return f"{shown:+.0f} %"


def seconds_text(value_s: float) -> str:
    """Seconds: milliseconds below one."""
    return ms_text(value_s) if value_s < 1 else f"{number(value_s)} s"


def ms_text(value_s: float) -> str:
    """Milliseconds of a time in seconds."""
    return f"{number(value_s * 1e3)} ms"


def with_unit(value: float, unit: str) -> str:
    """A number and its unit; a share reads as a percentage."""
    if unit in ("", "fraction", "ratio", "share"):
        return percent(value) if 0 <= value <= 1 else number(value)
    return f"{number(value)} {unit_text(unit)}"


def unit_text(unit: str) -> str:
    """A unit as the page writes it."""
    return _UNITS.get(unit, unit)


def tokens_text(value: float) -> str:
    """A mean length: 4,000 or 12.5k beyond a hundred thousand."""
    return f"{value / 1000:,.4g}k" if value >= 100_000 else f"{value:,.6g}"


def money_per_hour(value: float) -> str:
    """A price an hour: cents below a hundred."""
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
