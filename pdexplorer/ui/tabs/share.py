"""Everything to hand on: links, a frame, live addresses, and files made only when asked for."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from pdexplorer.export.answer_csv import answer_csv
from pdexplorer.export.images import chart_png, chart_svg
from pdexplorer.export.json_text import json_text
from pdexplorer.export.links import LOCAL_ADDRESS
from pdexplorer.export.memo import memo_text
from pdexplorer.export.page import page_html
from pdexplorer.export.report import Report, report_of
from pdexplorer.export.share import ShareItems, share_items
from pdexplorer.scenario.link import to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.tabs.candidates import candidate_frame
from pdexplorer.ui.texts import language, plain, said, text

_VIEWS = ("cost", "map")
_LONG = 110  # pixels of a block that holds more than anybody reads


def share_tab(answer: Answered, presets: Presets) -> None:
    """Links left, files right."""
    answer = answer.complete()
    try:
        items = share_items(
            answer.scenario,
            answer.preset,
            presets,
            st.context.url or LOCAL_ADDRESS,
            answer.evaluation,
            language(),
        )
    except ValueError as error:
        st.error(plain(said(str(error))), icon=":material/error:")
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _links(items, answer)
    with right:
        _files(items, answer)


def _links(items: ShareItems, answer: Answered) -> None:
    _copied(text("share.short"), items.short_link)
    _copied(text("share.full"), items.full_link, height=_LONG)
    views = {view: text(f"share.view_{view}") for view in items.frames}
    view = st.segmented_control(
        text("share.frame_view"),
        list(views),
        default=next(iter(views)),
        required=True,
        format_func=views.__getitem__,
        key="share.view",
    )
    _copied(text("share.frame"), items.frames[str(view)], "html")
    live = [
        *items.svg_addresses.values(),
        *items.png_addresses.values(),
        items.json_address,
        items.memo_address,
    ]
    _copied(text("share.live"), "\n".join(live))
    _copied(text("share.shell"), f'pdexplorer evaluate "{to_link(answer.scenario, answer.preset)}"', "bash")
    _copied(text("share.markdown"), items.markdown, "markdown")


def _copied(
    label: str, words: str, kind: str | None = None, height: int | Literal["content"] = "content"
) -> None:
    st.caption(label)
    st.code(words, language=kind, wrap_lines=True, height=height)


def _files(items: ShareItems, answer: Answered) -> None:
    def report() -> Report:
        return report_of(
            answer.scenario,
            answer.preset,
            evaluation=answer.evaluation,
            link=items.short_link,
            language=said_in,
        )

    said_in = language()  # files are made on a thread of their own, which has no session
    names = items.file_names
    st.markdown(f"**{text('share.files')}**")
    _file(text("share.page"), names["page.html"], "text/html", lambda: page_html(report()).encode())
    _file(text("share.memo"), names["memo.md"], "text/markdown", lambda: memo_text(report()).encode())
    for view in _VIEWS:
        called = text(f"share.view_{view}")
        svg, png = names[f"{view}.svg"], names[f"{view}.png"]
        _file(text("share.svg", view=called), svg, "image/svg+xml", _drawn(chart_svg, report, view))
        _file(text("share.png", view=called), png, "image/png", _drawn(chart_png, report, view))
    stem = names["answer.json"].rpartition(".")[0]
    _file(text("share.answer"), f"{stem}.json", "application/json", lambda: json_text(answer.json).encode())
    _file(text("share.scenario"), names["scenario.json"], "application/json", items.scenario_json.encode)
    _file(
        text("share.answer_csv"), f"{stem}.csv", "text/csv", lambda: answer_csv(report()).encode("utf-8-sig")
    )
    table = candidate_frame(answer.json["candidates"])
    _file(text("share.csv"), f"{stem}_candidates.csv", "text/csv", lambda: table.to_csv(index=False).encode())


def _drawn(
    draw: Callable[[Report, str], bytes], report: Callable[[], Report], view: str
) -> Callable[[], bytes]:
    return lambda: draw(report(), view)


def _file(label: str, name: str, kind: str, make: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        data=make,
        file_name=name,
        mime=kind,
        key=f"file.{name}",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
    )
