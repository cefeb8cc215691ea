"""Numbers as people write them in files, links and shells."""

import math


def plain_number(text: str) -> float | None:
    """A finite number in ASCII digits, or None. Python alone takes 1_0 and other scripts' digits too."""
    if not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
