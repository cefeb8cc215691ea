"""A drawn chart as part of an HTML page: names of its own, no outside references, dark where the page is."""

import re

from pdexplorer.export.images import GROUND, INK, MUTED

_ID = re.compile(r'\bid="([^"]+)"')
_NAMESPACE = re.compile(r'\sxmlns(?::\w+)?="[^"]*"')
_LABELS = re.compile(r'\s(?:aria-\w+|role)="[^"]*"')

DARK_RULES = (
    f'svg.marks [fill="{INK}"]{{fill:#ececf0}}'
    f'svg.marks [fill="{MUTED}"]{{fill:#b9b9c2}}'
    'svg.marks [stroke="#e6e6ea"]{stroke:#3c3c46}'
    f'svg.marks>rect[fill="{GROUND}"]{{fill:none}}'
)
"""CSS that turns words, grid and ground of a chart dark; what lies on coloured marks stays."""


def inlined(svg: bytes, name: str) -> str:
    """The SVG element for an HTML page. name goes before every id, so that two charts do not share one.

    Labels for screen readers are left out: a page says in words what a chart shows, once, not mark by mark.
    """
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = _NAMESPACE.sub("", text, count=2)
    text = _LABELS.sub("", text)
    for found in sorted(set(_ID.findall(text)), key=len, reverse=True):
        text = text.replace(f'id="{found}"', f'id="{name}-{found}"').replace(
            f"url(#{found})", f"url(#{name}-{found})"
        )
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
