"""`evaluate` and `simulate`: a scenario in, JSON or a page of text out."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from pdexplorer import MODEL_VERSION
from pdexplorer.cli.scenario import scenario_from
from pdexplorer.cli.text import print_evaluation, print_simulation
from pdexplorer.cli.trace import own_trace, replayed
from pdexplorer.export.json_text import json_text
from pdexplorer.export.per_request import write_per_request
from pdexplorer.scenario.plain_number import plain_number
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import shown
from pdexplorer.study.compare import evaluate as evaluate_scenario
from pdexplorer.study.confidence import with_confidence

_DEFAULT_REQUESTS = 2000
_MOST_REQUESTS = 1_000_000


def evaluate(arguments: argparse.Namespace) -> None:
    """The closed form's verdict."""
    scenario, title = scenario_from(arguments.scenario, arguments.settings)
    traced = own_trace(scenario)
    evaluation = with_confidence(evaluate_scenario(traced.scenario))
    if arguments.json:
        print(json_text({**evaluation.to_json(), **traced.to_json()}))
    else:
        print_evaluation(title, evaluation, traced.notes)


def simulate(arguments: argparse.Namespace) -> None:
    """Requests one by one through the fleets that the closed form sized."""
    options = _Options.read(arguments)
    from pdexplorer.cli.replay import replay, sized_fleets
    from pdexplorer.workload.generate import generate_requests

    plain, title = scenario_from(arguments.scenario, arguments.settings)
    traced = own_trace(plain) if options.trace is None else replayed(plain, options.trace, options.window_s)
    scenario = traced.scenario
    if options.trace is None:
        plain = scenario  # its own trace is its own traffic
    wanted = ("colocated", "disaggregated") if arguments.fleet == "both" else (arguments.fleet,)
    fleets = sized_fleets(scenario, plain, wanted)
    count = options.count(scenario)
    requests = generate_requests(scenario.workload, count, options.seed, options.rate_scale, options.window_s)
    answers, records = replay(scenario, fleets, requests)
    if options.per_request is not None:
        rows = write_per_request(options.per_request, records)
    if arguments.json:
        head = {
            "scenario": scenario.model_dump(mode="json"),
            "seed": options.seed,
            "rate_scale": options.rate_scale,
        }
        print(json_text({**head, **traced.to_json(), **answers, "model_version": MODEL_VERSION}))
        return
    print_simulation(title, answers, traced.notes)
    if options.per_request is not None:
        print(f"\n{rows:,} rows written to {options.per_request}")


@dataclass(frozen=True)
class _Options:
    requests: int | None
    per_request: Path | None
    rate_scale: float
    window_s: tuple[float, float] | None
    seed: int
    trace: str | None

    @classmethod
    def read(cls, arguments: argparse.Namespace) -> "_Options":
        """The flags of `simulate`, checked. ValueError names flag, value and what is allowed."""
        requests = None
        if arguments.requests is not None:
            requests = _whole("--requests", arguments.requests, 1, _MOST_REQUESTS)
        window_s = None if arguments.window is None else _window(arguments.window)
        if window_s is not None and arguments.trace is None:
            raise ValueError(f"--window {shown(arguments.window)}: allowed only with --trace")
        rate_scale = plain_number(arguments.rate_scale)
        if rate_scale is None or not 0 < rate_scale <= 1e6:
            raise ValueError(
                f"--rate-scale {shown(arguments.rate_scale)}: allowed is a number above 0 up to 1,000,000"
            )
        per_request = None if arguments.per_request is None else Path(arguments.per_request)
        if per_request is not None and (per_request.is_dir() or not per_request.parent.is_dir()):
            raise ValueError(
                f"--per-request {shown(arguments.per_request)}: allowed is a file in an existing directory"
            )
        seed = _whole("--seed", arguments.seed, 0, 2**63 - 1)
        return cls(requests, per_request, rate_scale, window_s, seed, arguments.trace)

    def count(self, scenario: Scenario) -> int:
        """How many requests to draw; a trace is replayed whole unless told otherwise."""
        if self.requests is not None:
            return self.requests
        return _MOST_REQUESTS if scenario.workload.arrivals == "trace" else _DEFAULT_REQUESTS


def _window(text: str) -> tuple[float, float]:
    start, _, end = text.partition(":")
    low, high = plain_number(start or "0"), plain_number(end)
    if low is None or high is None or not 0 <= low < high:
        raise ValueError(f"--window {shown(text)}: allowed is START:END in seconds, such as 600:1200")
    return low, high


def _whole(flag: str, text: str, least: int, most: int) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20 and least <= int(digits) <= most):
        raise ValueError(f"{flag} {shown(text)}: allowed is a whole number from {least:,} to {most:,}")
    return int(digits)
