"""Marks that can be clicked: one way for every chart that offers a point to take over."""

from collections.abc import Sequence

import altair as alt

_FAINT, _PICKED = 0.35, 1.0


def pickable(marks: alt.Chart, name: str, fields: Sequence[str], nearest: bool = False) -> alt.Chart:
    """The marks with a click reported under name as these fields of the mark, the picked one drawn full.

    nearest: a click beside a small mark counts for the nearest one; points then grow when picked.
    """
    click = alt.selection_point(
        name=name, fields=list(fields), on="click", toggle=False, nearest=nearest, empty=not nearest
    )
    if nearest:
        marks = marks.encode(
            size=alt.condition(click, alt.value(130), alt.value(16)),
            opacity=alt.condition(click, alt.value(_PICKED), alt.value(_FAINT)),
        )
    else:
        marks = marks.encode(opacity=alt.condition(click, alt.value(_PICKED), alt.value(_FAINT)))
    return marks.add_params(click)
