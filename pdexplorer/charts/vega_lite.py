"""Vega-Lite as plain dicts, for the charts of the first screen: Altair builds a map of this kind in half a
second, which is most of what the first visitor of a fresh server would wait for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pdexplorer.charts.theme import theme_config

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def number(field: str, **more: Any) -> dict[str, Any]:
    """A channel of numbers."""
    return {"field": field, "type": "quantitative", **more}


def words(field: str, **more: Any) -> dict[str, Any]:
    """A channel of words."""
    return {"field": field, "type": "nominal", **more}


def only(condition: str) -> dict[str, Any]:
    """Rows of which a Vega expression holds."""
    return {"filter": condition}


def layer(
    mark: Mapping[str, Any], encoding: Mapping[str, Any], *transforms: Mapping[str, Any]
) -> dict[str, Any]:
    """One kind of mark over the rows the transforms leave."""
    spec = {"mark": dict(mark), "encoding": dict(encoding)}
    return spec | ({"transform": [dict(one) for one in transforms]} if transforms else {})


def group(layers: Sequence[Mapping[str, Any]], *transforms: Mapping[str, Any]) -> dict[str, Any]:
    """Layers over the rows the transforms leave."""
    return {"layer": [dict(one) for one in layers], "transform": [dict(one) for one in transforms]}


def standing_alone(spec: Mapping[str, Any], frame: pd.DataFrame) -> dict[str, Any]:
    """The chart with its data and the look it has outside the page, where no page theme applies."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {"$schema": SCHEMA, "config": theme_config(), "data": {"values": rows}, **spec}
