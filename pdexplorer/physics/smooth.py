"""The join of a compute-bound and a memory-bound time."""

from typing import Any


def smooth_max(first: Any, second: Any, sharpness: float) -> Any:
    """p-norm of two times, floats or arrays: the larger where they differ, 2**(1/p) of either where they
    meet.

    It is homogeneous, so that two terms linear in a size stay linear in it.
    """
    return (first**sharpness + second**sharpness) ** (1.0 / sharpness)
