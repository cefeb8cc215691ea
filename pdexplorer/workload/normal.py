"""The normal distribution and its inverse without scipy, for arrays."""

import math

import numpy as np
from numpy.typing import NDArray

Z95 = 1.6448536269514722
"""The normal's 95th percentile."""

# Wichura, Algorithm AS 241 (PPND16): relative error about 1e-16.
_A = (
    3.3871328727963666080,
    133.14166789178437745,
    1971.5909503065514427,
    13731.693765509461125,
    45921.953931549871457,
    67265.770927008700853,
    33430.575583588128105,
    2509.0809287301226727,
)
_B = (
    1.0,
    42.313330701600911252,
    687.18700749205790830,
    5394.1960214247511077,
    21213.794301586595867,
    39307.895800092710610,
    28729.085735721942674,
    5226.4952788528545610,
)
_C = (
    1.42343711074968357734,
    4.63033784615654529590,
    5.76949722146069140550,
    3.64784832476320460504,
    1.27045825245236838258,
    0.241780725177450611770,
    0.0227238449892691845833,
    7.74545014278341407640e-4,
)
_D = (
    1.0,
    2.05319162663775882187,
    1.67638483018380384940,
    0.689767334985100004550,
    0.148103976427480074590,
    0.0151986665636164571966,
    5.47593808499534494600e-4,
    1.05075007164441684324e-9,
)
_E = (
    6.65790464350110377720,
    5.46378491116411436990,
    1.78482653991729133580,
    0.296560571828504891230,
    0.0265321895265761230930,
    0.00124266094738807843860,
    2.71155556874348757815e-5,
    2.01033439929228813265e-7,
)
_F = (
    1.0,
    0.599832206555887937690,
    0.136929880922735805310,
    0.0148753612908506148525,
    7.86869131145613259100e-4,
    1.84631831751005468180e-5,
    1.42151175831644588870e-7,
    2.04426310338993978564e-15,
)


def normal_cdf(z: float) -> float:
    """Probability that a standard normal lies below z."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard normal quantile of u in (0, 1), any shape."""
    u = np.clip(np.asarray(u, dtype=float), 1e-300, 1.0 - 1e-16)
    q = u - 0.5
    r_centre = 0.180625 - q * q
    centre = q * _ratio(_A, _B, r_centre)
    with np.errstate(all="ignore"):
        r = np.sqrt(-np.log(np.where(q < 0, u, 1.0 - u)))
        near = _ratio(_C, _D, r - 1.6)
        far = _ratio(_E, _F, r - 5.0)
    tail = np.where(r <= 5.0, near, far) * np.where(q < 0, -1.0, 1.0)
    return np.where(np.abs(q) <= 0.425, centre, tail)


def _ratio(over: tuple[float, ...], under: tuple[float, ...], r: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.polyval(over[::-1], r) / np.polyval(under[::-1], r))
