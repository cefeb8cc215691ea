"""The constants and conversions of this project: SI inside, human units at the edge.

Datasheets are decimal (1 GB = 1e9 bytes); memory tools print binary (1 GiB = 2**30 bytes).
"""

GB = 1e9
MIB = float(2**20)
GIB = float(2**30)
TERA = 1e12
MS = 1e-3
US = 1e-6
HOURS_PER_YEAR = 8760.0
SECONDS_PER_HOUR = 3600.0
SECONDS_PER_DAY = 86400.0


def gbit_per_s_to_byte_per_s(gbit_per_s: float) -> float:
    """Line rates are decimal gigabits: 200 Gbit/s is 25e9 byte/s."""
    return gbit_per_s * 1e9 / 8.0
