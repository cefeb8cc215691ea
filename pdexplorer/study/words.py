"""Every sentence a person reads from the comparison, in one place, so that another language can be added
beside it.
"""

import math

from pdexplorer.infeasible import Infeasible


def number(value: float, digits: int = 3) -> str:
    """A number with that many significant digits, thousands separators and no exponent for large ones."""
    if value == 0.0:
        return "0"
    if abs(value) < 0.001:
        return f"{value:.2g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    rounded = (
        round(value, digits - 1 - math.floor(math.log10(abs(value)))) if abs(value) >= 10**digits else value
    )
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds(value: float) -> str:
    """In ms below one second."""
    return f"{number(value * 1000.0)} ms" if abs(value) < 1.0 else f"{number(value)} s"


def percent(fraction: float) -> str:
    if 0.0 < fraction < 0.01:
        return f"{fraction:.1%}"
    return f"{fraction:.0%}"


def share(fraction: float) -> str:
    """With a decimal: what is attained beside what is asked."""
    return f"{number(fraction * 100.0)}%"


def shape_text(tp: int, pp: int) -> str:
    """An instance's parallelism: TP4, or TP4 × PP2."""
    return f"TP{tp}" if pp == 1 else f"TP{tp} × PP{pp}"


def nothing_fits() -> Infeasible:
    return Infeasible("memory", "no instance of the accelerators on offer can hold this model")


def ttft_alone(ttft_s: float, limit_s: float, percentile: float) -> Infeasible:
    return Infeasible(
        "ttft",
        f"one request alone takes {seconds(ttft_s)} to its first token at "
        f"P{number(percentile * 100)}, over the limit "
        f"of {seconds(limit_s)}: no number of instances helps",
    )


def tpot_alone(tpot_s: float, limit_s: float, percentile: float) -> Infeasible:
    return Infeasible(
        "tpot",
        f"one request alone takes {seconds(tpot_s)} a token, too close to or over the limit "
        f"of {seconds(limit_s)} "
        f"at P{number(percentile * 100)}: no number of instances helps",
    )


def e2e_alone(limit_s: float, percentile: float) -> Infeasible:
    return Infeasible(
        "e2e",
        f"one request alone takes longer than the limit of {seconds(limit_s)} at "
        f"P{number(percentile * 100)}: "
        "no number of instances helps",
    )


def ttft_share(held: float, limit_s: float, percentile: float) -> Infeasible:
    return Infeasible(
        "ttft",
        f"one request at a time, {share(held)} of requests reach their first token within "
        f"{seconds(limit_s)}, not {share(percentile)}: no number of instances helps",
    )


def together_alone(held: float, first: float, later: float, percentile: float) -> Infeasible:
    return Infeasible(
        "ttft" if first <= later else "tpot",
        f"one request at a time, {share(first)} of requests hold the TTFT limit and {share(later)} the TPOT "
        f"limit, but only {share(held)} hold both, not {share(percentile)}: no number of instances helps",
    )


def nothing_to_spare(ttft_s: float, ttft_limit_s: float, tpot_s: float, tpot_limit_s: float) -> Infeasible:
    first = ttft_s / ttft_limit_s > tpot_s / tpot_limit_s
    what, took, limit = ("TTFT", ttft_s, ttft_limit_s) if first else ("TPOT", tpot_s, tpot_limit_s)
    return Infeasible(
        what.lower(),
        f"one request alone just holds the limits, {what} {seconds(took)} of {seconds(limit)}: "
        "beside others it does not",
    )


def memory_alone(context_tokens: float) -> Infeasible:
    return Infeasible(
        "kv_memory",
        f"the KV cache has no room for requests of {number(context_tokens)} tokens beside the weights, "
        "or the link cannot carry them",
    )


def link_alone(context_tokens: float) -> Infeasible:
    return Infeasible(
        "link",
        f"the link moves the KV of requests of {number(context_tokens)} tokens too slowly to hold the limits "
        "beside a decode pool at work; over a faster one it would do",
    )


def too_few(carried: float, demand: float, count: float, closed: bool) -> Infeasible:
    unit = "requests in flight" if closed else "requests/s"
    return Infeasible(
        "capacity",
        f"{number(count)} instance{' carries' if count == 1 else 's carry'} {number(carried)} {unit} "
        "within the limits, "
        f"not the {number(demand)} asked",
    )


def budget_too_small(budget: float, per_dollar: bool, pools: bool = True) -> Infeasible:
    what = (
        f"{number(budget)} USD an hour does not pay for"
        if per_dollar
        else f"{number(budget)} GPU{' is' if budget == 1 else 's are'} too few for"
    )
    return Infeasible("budget", f"{what} one instance{' of each pool' if pools else ''}")


def pool_too_few(pool: str, carried: float, demand: float, count: float) -> Infeasible:
    return Infeasible(
        "capacity",
        f"{number(count)} {pool} instance{' carries' if count == 1 else 's carry'} {number(carried)} "
        "requests/s within the "
        f"limits, not the {number(demand)} asked",
    )


def pools_too_few(prefill: int, decode: int, carried: float, demand: float) -> Infeasible:
    return Infeasible(
        "capacity",
        f"{prefill} prefill and {decode} decode instances carry {number(carried)} requests/s within the "
        f"limits, not the {number(demand)} asked",
    )


def pools_in_flight(prefill: int, decode: int, demand: float) -> Infeasible:
    return Infeasible(
        "capacity",
        f"{prefill} prefill and {decode} decode instances do not hold the limits with {number(demand)} "
        "requests in flight",
    )


SETTINGS = {
    "workload.input_tokens": "input tokens",
    "workload.output_tokens": "output tokens",
    "workload.prefix_hit_fraction": "prefix hit",
    "workload.rate_per_s": "load",
    "workload.concurrency": "requests in flight",
    "network.nic_gbit_per_s": "network speed per NIC",
    "slo.ttft_s": "TTFT limit",
    "slo.tpot_ms": "TPOT limit",
}
"""What a page calls a setting."""


def setting(key: str) -> str:
    if key.startswith("money.usd_per_hour."):
        return f"price of {key.rsplit('.', 1)[1]}"
    return SETTINGS.get(key, key)


def flip(key: str, value: float, unit: str, direction: str) -> str:
    return f"pays {direction} {_place(key, value, unit)}"


def _place(key: str, value: float, unit: str) -> str:
    """A value of a setting, as it reads after "above"."""
    if key == "workload.prefix_hit_fraction":
        return f"a prefix hit of {percent(value)}"
    if unit == "$/h":
        return f"{number(value)} USD/h for {key.rsplit('.', 1)[1]}"
    if unit == "tokens":
        return f"{number(value, 2)} {setting(key)}"
    return f"a {setting(key)} of {number(value)} {unit}".rstrip()


def no_flip(key: str) -> str:
    return f"no {setting(key)} in its range flips this"


def no_price(name: str, others: list[str]) -> str:
    missing = ", ".join((name, *others)) if others else name
    return f"no price of {name} can be named: {missing} has none; set money.usd_per_hour"


DECISIONS = {
    "disaggregate": "disaggregate",
    "benchmark_first": "worth a benchmark",
    "stay_colocated": "stay colocated",
}


def beyond(decision: str, side: str, key: str, value: float, unit: str) -> str:
    """The decision on the other side of a break-even: "stay colocated above 8,400 input tokens"."""
    return f"{DECISIONS[decision]} {side} {_place(key, value, unit)}"
