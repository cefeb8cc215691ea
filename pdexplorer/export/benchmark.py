"""What to measure before building: servers, load and limits of both designs, as commands to start from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.export.report import Report
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.words import number

_TRANSFER = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
_MINUTES = 10
Design = Mapping[str, Any]
"""tp, pp and weight_format of an instance."""

_FEWEST, _MOST = 500, 20_000


@dataclass(frozen=True)
class Servers:
    """One kind of instance: how many of it, and the command that starts one."""

    name: str
    instances: int
    command: str


def servers(report: Report) -> tuple[Servers, ...]:
    """The instances of both fleets as sized, with the flags of the scenario's engine."""
    found = []
    one, split = report.answer["colocated"], report.answer["disaggregated"]
    scenario = report.scenario
    if one["feasible"]:
        design, tokens = one["design"], int(one["design"]["chunk_tokens"])
        found.append(
            Servers("colocated", int(one["instances"]), _command(scenario, "colocated", design, tokens))
        )
    if split["feasible"]:
        design = split["design"]
        for role in ("prefill", "decode"):
            tokens = scenario.engine.prefill_batch_tokens if role == "prefill" else 0
            own = {name: design[f"{role}_{name}"] for name in ("tp", "pp", "weight_format")}
            command = _command(scenario, role, own, tokens)
            found.append(Servers(role, int(split["instances"][role]), command))
    return tuple(found)


def load_command(scenario: Scenario) -> str:
    """vLLM's serving benchmark with the scenario's load and limits; it measures any compatible server."""
    work, slo = scenario.workload, scenario.slo
    cached = round(work.input_tokens * work.prefix_hit_fraction)
    flags = ["vllm bench serve --model MODEL --dataset-name random"]
    if cached:
        flags.append(f"--random-prefix-len {cached}")
    flags.append(f"--random-input-len {max(1, round(work.input_tokens) - cached)}")
    flags.append(f"--random-output-len {round(work.output_tokens)}")
    if work.mode == "offline":
        flags.append(f"--request-rate inf --num-prompts {_FEWEST}")
    elif work.arrivals == "closed_loop":
        prompts = min(max(_FEWEST, 20 * work.concurrency), _MOST)
        flags.append(f"--request-rate inf --max-concurrency {work.concurrency} --num-prompts {prompts}")
    else:
        rate = work.rate_per_s * work.peak_to_mean_ratio
        prompts = min(max(_FEWEST, round(rate * 60 * _MINUTES)), _MOST)
        flags.append(f"--request-rate {rate:.6g} --num-prompts {prompts}")
        if work.arrivals == "gamma":
            flags.append(f"--burstiness {work.burstiness:g}")
    flags.append("--percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,95,99")
    limits = [("ttft", slo.ttft_s, 1e3), ("tpot", slo.tpot_ms, 1.0), ("e2el", slo.e2e_s, 1e3)]
    goodput = " ".join(f"{name}:{value * scale:g}" for name, value, scale in limits if value is not None)
    if goodput and work.mode == "online":
        flags.append(f"--goodput {goodput}")
    return " \\\n  ".join(flags)


def instances_line(report: Report, server: Servers) -> str:
    """What stands above a server's command: which fleet or pool, and how many instances of it."""
    name = report.fleet_names.get(server.name) or report.texts.text(f"part.{server.name}")
    key = "one_instance" if server.instances == 1 else "instances"
    return report.text(key, name=name, count=server.instances)


def advice(report: Report) -> list[str]:
    """What the numbers of a run should be held against, and which further points are worth one."""
    scenario = report.scenario
    lines = []
    one = report.answer["colocated"]
    if one["feasible"] and scenario.workload.mode == "online" and scenario.workload.arrivals != "closed_loop":
        rate = scenario.workload.rate_per_s * scenario.workload.peak_to_mean_ratio
        lines.append(report.text("first_run", rate=number(rate / int(one["instances"]))))
    for name, called in report.fleet_names.items():
        side = report.answer[name]
        if side["feasible"]:
            lines.append(report.text("expect", name=called, numbers=_expected(report, side)))
    if report.flips:
        lines.append(report.text("repeat", flip=report.flips[0].text))
    if scenario.workload.input_distribution not in ("fixed",) and not scenario.workload.trace_file:
        lines.append(report.text("spread"))
    return lines


def _expected(report: Report, side: Mapping[str, Any]) -> str:
    parts = [
        f"{label} {number(side[key][percentile] * 1e3)} ms"
        for label, key, percentile in (
            ("TTFT P95", "ttft_s", "p95"),
            ("TPOT P95", "tpot_s", "p95"),
            ("ITL P99", "itl_s", "p99"),
            (report.text("kv"), "kv_transfer_s", "p95"),
        )
        if side[key]["p95"] is not None and side[key][percentile] is not None
    ]
    if side["goodput_per_s"] is not None:
        parts.append(report.text("expect_goodput", rate=number(side["goodput_per_s"])))
    return ", ".join(parts)


def _command(scenario: Scenario, role: str, design: Mapping[str, Any], tokens: int) -> str:
    pool = {"colocated": scenario.colocated, "prefill": scenario.prefill, "decode": scenario.decode}[role]
    engine = scenario.colocated_engine if role == "colocated" else scenario.engine.profile
    write = {"sglang": _sglang, "trtllm": _trtllm, "local": _local}.get(engine, _vllm)
    return " \\\n  ".join(write(scenario, pool, role, design, tokens))


def _vllm(scenario: Scenario, pool: Any, role: str, design: Design, tokens: int) -> list[str]:
    tp, pp, weights = design["tp"], design["pp"], design["weight_format"]
    engine = scenario.engine
    flags = [f"vllm serve MODEL --tensor-parallel-size {tp}"]
    flags += [f"--pipeline-parallel-size {pp}"] * (pp > 1)
    flags += [f"--data-parallel-size {pool.attention_dp}"] * (pool.attention_dp > 1)
    flags += ["--enable-expert-parallel"] * (pool.ep > 1)
    sequences = math.ceil(pool.max_batch / pool.attention_dp)  # vLLM counts them per data-parallel rank
    flags.append(f"--max-num-seqs {sequences} --gpu-memory-utilization {engine.memory_fraction:g}")
    flags += [f"--max-num-batched-tokens {tokens}"] * (tokens > 0)
    flags += ["--no-enable-chunked-prefill"] * (role == "colocated" and engine.chunking == "unchunked")
    flags += ["--quantization fp8"] * (weights == "fp8")
    flags += ["--kv-cache-dtype fp8"] * (scenario.model.kv_format == "fp8")
    flags += ["--no-enable-prefix-caching"] * (scenario.workload.prefix_hit_fraction == 0)
    flags += [_TRANSFER] * (role != "colocated")
    return flags


def _sglang(scenario: Scenario, pool: Any, role: str, design: Design, tokens: int) -> list[str]:
    tp, pp, weights = design["tp"], design["pp"], design["weight_format"]
    engine = scenario.engine
    flags = [f"python -m sglang.launch_server --model-path MODEL --tp-size {tp * pool.attention_dp}"]
    flags += [f"--dp-size {pool.attention_dp} --enable-dp-attention"] * (pool.attention_dp > 1)
    flags += [f"--pp-size {pp}"] * (pp > 1)
    flags += [f"--ep-size {pool.ep}"] * (pool.ep > 1)
    flags.append(f"--max-running-requests {pool.max_batch} --mem-fraction-static {engine.memory_fraction:g}")
    if tokens:
        whole = role == "colocated" and engine.chunking == "unchunked"
        flags.append(f"--chunked-prefill-size {-1 if whole else tokens}")
    flags += ["--enable-mixed-chunk"] * (role == "colocated" and engine.chunking == "chunked")
    flags += ["--quantization fp8"] * (weights == "fp8")
    flags += ["--kv-cache-dtype fp8_e4m3"] * (scenario.model.kv_format == "fp8")
    flags += ["--disable-radix-cache"] * (scenario.workload.prefix_hit_fraction == 0)
    flags += [f"--disaggregation-mode {role}"] * (role != "colocated")
    return flags


def _trtllm(scenario: Scenario, pool: Any, role: str, design: Design, tokens: int) -> list[str]:
    tp, pp = design["tp"], design["pp"]
    flags = [f"trtllm-serve MODEL --tp_size {tp * pool.attention_dp}"]
    flags += [f"--pp_size {pp}"] * (pp > 1)
    flags += [f"--ep_size {pool.ep}"] * (pool.ep > 1)
    flags.append(f"--max_batch_size {pool.max_batch}")
    flags += [f"--max_num_tokens {tokens}"] * (tokens > 0)
    flags.append(f"--kv_cache_free_gpu_memory_fraction {scenario.engine.memory_fraction:g}")
    return flags


def _local(scenario: Scenario, pool: Any, role: str, design: Design, tokens: int) -> list[str]:
    workload = scenario.workload
    longest = (workload.input_p95_tokens or workload.input_tokens) + (
        workload.output_p95_tokens or workload.output_tokens
    )
    flags = [f"llama-server -m MODEL.gguf --n-gpu-layers 999 --parallel {pool.max_batch}"]
    flags.append(f"--ctx-size {math.ceil(longest) * pool.max_batch}")
    flags += ["--split-mode row"] * (design["tp"] > 1)
    flags += [f"--batch-size {tokens}"] * (tokens > 0)
    flags += ["--cache-type-k q8_0 --cache-type-v q8_0"] * (scenario.model.kv_format == "fp8")
    return flags
