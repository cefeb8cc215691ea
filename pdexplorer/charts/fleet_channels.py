"""How lines of the two fleets are told apart."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from pdexplorer.charts.theme import FLEETS


def fleet_channels(fleet_texts: Mapping[str, str], dash: Sequence[int] = (6, 3)) -> dict[str, Any]:
    """Channels that tell the two fleets' lines apart: colour, and a dash so that it is never colour alone."""
    domain = [fleet_texts[fleet] for fleet in FLEETS]
    return {
        "color": alt.Color(
            "fleet:N",
            title=None,
            scale=alt.Scale(domain=domain, range=list(FLEETS.values())),
            legend=alt.Legend(orient="top", symbolType="stroke"),
        ),
        "strokeDash": alt.StrokeDash(
            "fleet:N", scale=alt.Scale(domain=domain, range=[[1, 0], list(dash)]), legend=None
        ),
    }
