"""How serving teams size a pool: token rate over what one node or instance carries, rounded up at the
peak.
"""

import math

from pdexplorer.units import SECONDS_PER_DAY


def nodes_for_tokens(tokens_per_day: float, node_tokens_per_s: float) -> float:
    """Nodes kept busy by that many tokens a day, unrounded. ValueError unless both are positive."""
    if tokens_per_day <= 0.0 or node_tokens_per_s <= 0.0:
        raise ValueError(
            f"tokens_per_day = {tokens_per_day:g} and node_tokens_per_s = "
            f"{node_tokens_per_s:g} must be positive"
        )
    return tokens_per_day / SECONDS_PER_DAY / node_tokens_per_s


def whole_instances(peak_rate_per_s: float, instance_rate_per_s: float) -> int:
    """Instances that carry the peak, at least one. ValueError where one carries nothing."""
    if instance_rate_per_s <= 0.0:
        raise ValueError(f"instance_rate_per_s = {instance_rate_per_s:g} must be positive")
    return max(1, math.ceil(peak_rate_per_s / instance_rate_per_s * (1.0 - 1e-9)))
