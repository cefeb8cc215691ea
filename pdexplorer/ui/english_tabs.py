"""The English texts of the tabs below the first screen, by id."""

from collections.abc import Mapping

ENGLISH_TABS: Mapping[str, str] = {
    "tab.simulation": "Simulation",
    "tab.candidates": "Candidates",
    "tab.sources": "Sources",
    "tab.share": "Link",
    "share.full": "The address bar holds this view after the first change. As a link, and in a shell:",
    "simulation.about": "Replays single requests through both fleets as sized above, event by event; every "
    "number "
    "here is *simulated*.",
    "simulation.source": "Requests",
    "simulation.source_scenario": "from the scenario",
    "simulation.source_trace": "from a trace",
    "simulation.requests": "Number of requests",
    "simulation.seed": "Seed",
    "simulation.rate_scale": "Rate scale (×)",
    "simulation.run": "Run simulation",
    "simulation.stale": "The scenario has changed since this run.",
    "simulation.running": "Simulating {requests} requests through both fleets …",
    "simulation.summary": "{requests} requests, seed {seed}, {seconds} s simulated.",
    "simulation.trace_summary": "{requests} requests of the trace, rate ×{scale}, {seconds} s simulated.",
    "simulation.no_fleet": "{fleet}: nothing to simulate. {why}",
    "simulation.cdf_y": "Share of requests",
    "simulation.ttft_x": "TTFT (ms), simulated",
    "simulation.tpot_x": "TPOT (ms), simulated",
    "simulation.limit": "limit {value}",
    "simulation.latency_alt": "Distribution of {what} over requests. {parts}",
    "simulation.latency_alt_fleet": "{fleet}: P50 {p50} ms, P95 {p95} ms, P99 {p99} ms.",
    "simulation.metric": "Metric (simulated)",
    "trace.upload": "Trace file (Azure CSV, Mooncake JSONL, BurstGPT CSV, vidur lengths)",
    "trace.paste": "Or paste its rows",
    "trace.paste_only": "Paste the trace's rows (Azure CSV, Mooncake JSONL, BurstGPT CSV, vidur lengths)",
    "trace.read": "{requests} requests over {seconds} s; mean input {input}, mean output {output} tokens.",
    "trace.bad": "This trace cannot be read: {why}",
    "trace.limit": "Only the first {requests} requests are replayed here; the shell replays all of them.",
    "candidates.about": "Every design tried for both fleets, best first: its score, or the limit that "
    "rules it out. "
    "Scores are *estimated*.",
    "sources.about": "Where this page's numbers come from. datasheet: the maker's; published: a list price "
    "or "
    "report; derived: from other figures; fitted: to measurements; assumed: nobody published it; user: set "
    "here.",
    "sources.figures": "All catalogue figures of what the scenario names",
    "sources.results": "This answer rests on",
    "column.fleet": "Fleet",
    "column.design": "Design",
    "column.chosen": "Chosen",
    "column.score": "Score",
    "column.score_unit": "Unit of the score",
    "column.instances": "Instances",
    "column.gpus": "GPUs",
    "column.cost": "Cost (USD/h)",
    "column.limit": "Ruled out by",
    "column.item": "Item",
    "column.figure": "Figure",
    "column.value": "Value",
    "column.kind": "Kind",
    "column.source": "Source",
}
