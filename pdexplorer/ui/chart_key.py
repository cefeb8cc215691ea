"""A chart's heading with the key of its colours, in one line that wraps: a chart's own legend is cut on a
narrow screen.
"""

from collections.abc import Mapping
from html import escape

_SWATCH = "display:inline-block;width:.75em;height:.75em;margin-right:.35em"
_LINE = "display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.9rem"


def heading(title: str, colors: Mapping[str, str], texts: Mapping[str, str]) -> str:
    """HTML. colors and texts: of the parts by key, in their order."""
    keys = "".join(
        f"<span style='white-space:nowrap'><span style='{_SWATCH};background:{colors[part]}'></span>"
        f"{escape(words)}</span>"
        for part, words in texts.items()
    )
    head = f"<b>{escape(title)}</b>" if title else ""
    return f"<div style='{_LINE}'>{head}{keys}</div>"
