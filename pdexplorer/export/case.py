"""A scenario's main inputs on one line, so that a file says what it is about."""

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.words import number, percent
from pdexplorer.texts.catalogue import Texts


def case_line(texts: Texts, scenario: Scenario) -> str:
    """Model, traffic, limits, hardware and engine."""
    model, work, slo = scenario.model, scenario.workload, scenario.slo
    if work.mode == "offline":
        load = texts.text("export.case_batch")
    elif work.arrivals == "closed_loop":
        load = texts.text("export.case_in_flight", count=f"{work.concurrency:,}")
    else:
        load = texts.text("export.case_rate", rate=number(work.rate_per_s * work.peak_to_mean_ratio))
    e2e = texts.text("export.case_e2e")
    limits = [("TTFT", slo.ttft_s, "s"), ("TPOT", slo.tpot_ms, "ms"), (e2e, slo.e2e_s, "s")]
    held = ", ".join(f"{name} ≤ {number(value)} {unit}" for name, value, unit in limits if value is not None)
    if work.mode == "offline" or not held:
        held = texts.text("export.case_no_limit")
    else:
        held = texts.text("export.case_limits", limits=held, percentile=number(slo.percentile))
    return texts.text(
        "export.case",
        model=model.name if model.architecture is None else model.architecture.name,
        weights=model.weight_format,
        input=f"{work.input_tokens:,.6g}",
        output=f"{work.output_tokens:,.6g}",
        hit=percent(work.prefix_hit_fraction),
        load=load,
        held=held,
        prefill=scenario.prefill.accelerator,
        decode=scenario.decode.accelerator,
        link=scenario.network.link,
        engine=scenario.engine.profile,
    )
