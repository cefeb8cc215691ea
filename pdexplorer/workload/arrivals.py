"""When requests arrive."""

import numpy as np
from numpy.typing import NDArray


def poisson_arrivals(rate_per_s: float, requests: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Arrival times in seconds of a Poisson stream; the first after one gap."""
    return np.cumsum(generator.standard_exponential(requests) / rate_per_s)


def gamma_arrivals(
    rate_per_s: float, burstiness: float, requests: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Arrival times with Gamma gaps of that shape, as vLLM's benchmark draws them; below 1 is burstier."""
    gaps = generator.standard_gamma(burstiness, requests) / (burstiness * rate_per_s)
    return np.cumsum(gaps)
