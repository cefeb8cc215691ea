"""How tests call the shell, the keys it promises in its JSON, and the header of a table it reads."""

from collections.abc import Callable

Shell = Callable[..., tuple[int, str, str]]
"""(exit status, output, errors) of a command line."""

EVALUATE_KEYS = {
    "scenario", "colocated", "disaggregated", "hybrid", "verdict", "candidates", "model_version",
}  # fmt: skip
FLEET_KEYS = {
    "feasible", "bottleneck", "instances", "gpus", "cost_usd_per_hour", "goodput_per_s",
    "cost_usd_per_million_tokens", "cost_usd_per_million_output_tokens", "ttft_s", "tpot_s", "itl_s", "e2e_s",
    "utilisation", "kv_transfer_s", "cost_per_request_usd",
}  # fmt: skip
VERDICT_KEYS = {
    "decision", "decided_by", "goodput_per_dollar_ratio", "goodput_per_gpu_ratio", "cost_ratio", "confidence",
    "vetoes", "reasons", "break_even",
}  # fmt: skip

POINTS = "system,model,phase,batch,new_tokens,context_tokens\n"
"""Header of a file of step points."""
