"""The few rules of look that Streamlit's theme has no setting for."""

import streamlit as st

from pdexplorer.ui.chart import dark
from pdexplorer.ui.figures import COST_HEIGHT, MAP_HEIGHT, MAP_HEIGHT_WITH_INTRO
from pdexplorer.ui.texts import language

_MAP_HEADING = 37  # pixels above the chart
_NARROW_MAP, _NARROW_MAP_HEADING = 305, 65

_COMPACT = """
<style>
[data-testid="stMetric"] {padding: 0;}
[data-testid="stMetric"] > div {padding: .55rem .8rem .4rem;}
[data-testid="stMetricLabel"] p {font-size: .82rem; white-space: normal;}
[data-testid="stMetric"] > div > div:last-child {flex-wrap: wrap; row-gap: 0;}
[data-testid="stMetricValue"] {font-size: 1.5rem;}
[data-testid="stMetricDeltaDescription"] p {font-size: .8rem;}
.st-key-headline [data-testid="stColumn"] {min-width: 8.4rem;}
.st-key-headline [data-testid="stSkeleton"] {height: 6.45rem;}
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] {gap: .55rem;}
[data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"] {gap: .6rem;}
[data-testid="stMainBlockContainer"] {padding-left: 2rem; padding-right: 2rem;}
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] {padding-left: 1rem; padding-right: 1rem;}
  [data-testid="stMainBlockContainer"] div:has(> .st-key-verdict) {order: -1;}
}
:is(button, a, input, summary, [role="tab"], [role="slider"], [role="combobox"]):focus-visible {
  outline: 2px solid #7a5cc0; outline-offset: 2px;
}
/* All tabs in sight; where they would take a phone's screen, one row that scrolls under the open one. */
[role="tablist"] {flex-wrap: wrap; height: auto; gap: 0 .9rem;}
[role="tab"] {height: 1.9rem; padding: 0;}
[role="tab"] p {font-size: .88rem;}
@media (max-width: 640px) {
  [role="tablist"] {flex-wrap: nowrap;}
  [role="tab"][aria-selected="true"] {
    position: sticky; left: 0; right: 1.6rem; z-index: 1; background: GROUND;
    box-shadow: 0 0 .4rem .6rem GROUND;
  }
}
.st-key-intro {border-left: 3px solid #7a5cc0; padding-left: .8rem;}
.st-key-intro [data-testid="stCaptionContainer"] p {line-height: 1.4;}
.st-key-in-lang button {min-height: 1.6rem; padding: .05rem .7rem;}
.st-key-in-preset [data-baseweb="select"] {font-size: .85rem;}
.st-key-map-heading button {min-height: 1.6rem; padding: .05rem .6rem;}
.st-key-map-heading {min-height: 1.75rem; row-gap: 0;}
.st-key-map-heading [data-testid="stSkeleton"] {height: 1.75rem;}
CHART_PLACES[class*="st-key-ask-"] {padding: .35rem .9rem;}
.st-key-verdict [data-testid="stMarkdownContainer"] p {font-size: .92rem; line-height: 1.45;}
.st-key-flips {margin-top: -.5rem; min-height: 1.35rem;}
@media (max-width: 640px) {
  .st-key-headline [data-testid="stSkeleton"] {height: 8.55rem;}
  .st-key-flips {min-height: 4rem;}
}
/* From the moment that a new question stands there, what is left of the one before is seen to be old: the
   flips unseen, since they would be read with the new verdict, all else faded. Their places are held. */
[data-testid="stMainBlockContainer"]:has(.st-key-new-question [data-stale="false"]) [data-stale="true"] {
  opacity: .25; transition: none;
}
[data-testid="stMainBlockContainer"]:has(.st-key-new-question [data-stale="false"])
  .st-key-flips [data-stale="true"] {visibility: hidden;}
.st-key-verdict h4 {padding: 0 0 .5rem 0; font-size: 1.15rem; line-height: 1.35;}
</style>
"""


def style(embedded: bool) -> None:
    """Tightens the first screen so that the answer fits 1280 × 800; a frame has no sidebar to open."""
    # Streamlit's own grey of captions has too little contrast for small text.
    grey, ground = ("#bcbcc4", "#171614") if dark() else ("#54565e", "#ffffff")
    faded = ", ".join(
        f'[data-testid="{name}"]' for name in ("stCaptionContainer", "stMetricDeltaDescription")
    )
    small = ", ".join(f"{name} p" for name in faded.split(", "))
    readable = f"<style>{small} {{color: {grey};}} {faded} {{opacity: 1;}}</style>"
    hide = "<style>[data-testid='stSidebar'],[data-testid='stExpandSidebarButton']{display:none}</style>"
    rules = _COMPACT.replace("CHART_PLACES", _chart_places()).replace("GROUND", ground)
    # Slanted Chinese characters are smeared: what is stressed is bold there.
    upright = "<style>em {font-style: normal; font-weight: 600;}</style>" if language() == "zh" else ""
    st.html(rules + readable + upright + (hide if embedded else ""))


def _chart_places() -> str:
    """Charts come last; their places are held so that nothing below them jumps. A phone's map is higher."""
    costs = "".join(f".st-key-cost-{high} {{min-height: {high}px;}}\n" for high in COST_HEIGHT.values())
    maps = "".join(_map_place(high, high, _MAP_HEADING) for high in (MAP_HEIGHT, MAP_HEIGHT_WITH_INTRO))
    narrow = "".join(
        _map_place(high, _NARROW_MAP, _NARROW_MAP_HEADING) for high in (MAP_HEIGHT, MAP_HEIGHT_WITH_INTRO)
    )
    return f"{costs}{maps}@media (max-width: 640px) {{\n{narrow}}}\n"


def _map_place(key: int, height: int, heading: int) -> str:
    place = f".st-key-map-{key}"
    return (
        f"{place} {{min-height: {height + heading}px;}}\n"
        f"{place} .st-key-chart-map {{flex: none; height: {height}px;}}\n"
    )
