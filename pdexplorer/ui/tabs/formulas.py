"""The formulas behind the first screen with this scenario's numbers in them."""

from collections.abc import Iterator
from typing import Any

from pdexplorer.metrics.money import price_of
from pdexplorer.physics.memory import kv_bytes
from pdexplorer.texts.formats import money_per_hour, ms_text, number, ratio_text, seconds_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.texts import said, text


def formulas(answer: Answered) -> list[tuple[str, str, str]]:
    """(what, formula, numbers) of everything that both fleets allow."""
    return [(text(f"formula.{key}"), rule, numbers) for key, rule, numbers in _all(answer)]


def _all(answer: Answered) -> Iterator[tuple[str, str, str]]:
    evaluation = answer.evaluation
    one, other = evaluation.colocated, evaluation.disaggregated
    fleet = evaluation.disaggregated_fleet
    if fleet is not None and other.feasible:
        yield from _transfer(answer, fleet, other.explain)
    for side, name in ((one, "colocated"), (other, "disaggregated")):
        if not side.feasible:
            continue
        fleet_name = text(f"fleet.{name}")
        e = side.explain
        yield (
            "decode",
            "TPOT = Σ(t_step) / N_token",
            f"{fleet_name}: t_step = {ms_text(e['step_s'])}, batch {number(e['in_flight'])} → "
            f"{ms_text(e['tpot_mean_s'])}",
        )
        if side.ttft_s is not None:
            yield (
                "ttft",
                "TTFT = t_queue + t_prefill + t_KV + t_first",
                f"{fleet_name}: {seconds_text(e['wait_mean_s'])} + {seconds_text(e['service_mean_s'])} + "
                f"{seconds_text(e.get('exposed_mean_s', 0.0))} + …; P95 {seconds_text(side.ttft_s.p95)}",
            )
        if side.cost_usd_per_hour and side.throughput_per_s and side.cost_per_request_usd:
            yield (
                "cost",
                "USD/request = USD/h / (3,600 × req/s)",
                f"{fleet_name}: {money_per_hour(side.cost_usd_per_hour)} / (3,600 × "
                f"{number(side.throughput_per_s)}) = {number(side.cost_per_request_usd['total'])}",
            )
    if one.feasible and other.feasible and one.cost_per_request_usd and other.cost_per_request_usd:
        a, b = one.cost_per_request_usd["total"], other.cost_per_request_usd["total"]
        yield "ratio", "C_colocated / C_split", f"{number(a)} / {number(b)} = {ratio_text(a / b)}"
    for identifier in dict.fromkeys(
        (answer.scenario.prefill.accelerator, answer.scenario.decode.accelerator)
    ):
        if identifier in answer.catalog.accelerators:
            device = answer.catalog.accelerators[identifier]
            words = said(price_of(device, answer.scenario.money).text.replace("$", "USD "))
            yield "price", "USD/h", words.replace(identifier, device.name)


def _transfer(answer: Answered, fleet: Any, e: Any) -> Iterator[tuple[str, str, str]]:
    tokens = answer.scenario.workload.input_tokens
    model = fleet.decode.architecture
    per_token = float(kv_bytes(model, fleet.decode.kv_format, tokens)) / tokens
    copies = e["moved_bytes"] / (tokens * per_token)
    yield (
        "kv",
        "B_KV = tokens × bytes/token × copies",
        f"{number(tokens)} × {number(per_token)} × {number(copies)} = {number(e['moved_bytes'] / 1e9)} GB",
    )
    rate = min(fleet.path.egress_byte_per_s, fleet.path.ingress_byte_per_s)
    took = fleet.path.latency_s + e["moved_bytes"] / rate
    yield (
        "transfer",
        "t_KV = t_0 + B_KV / min(egress, ingress)",
        f"{ms_text(fleet.path.latency_s)} + {number(e['moved_bytes'] / 1e9)} GB / {number(rate / 1e9)} GB/s "
        f"= {ms_text(took)}",
    )
