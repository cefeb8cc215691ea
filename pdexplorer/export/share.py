"""Everything the share dialog hands out, for one scenario."""

from collections.abc import Mapping
from dataclasses import dataclass

from pdexplorer.export.json_text import json_text
from pdexplorer.export.links import (
    FRAME_VIEWS,
    VIEWS,
    base_preset,
    file_name,
    frame_snippet,
    full_link,
    live_address,
    root_address,
    short_link,
)
from pdexplorer.export.memo import markdown, table
from pdexplorer.export.report import Report, report_of
from pdexplorer.export.tables import summary_table
from pdexplorer.scenario.presets import Preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.texts.catalogue import LANGUAGES


@dataclass(frozen=True)
class ShareItems:
    """Links, snippets and texts. Mappings are by view; file_names by what a download holds: svg and png once
    a view (`cost.svg`), and memo.md, page.html, scenario.json, answer.json,
    answer.csv.
    """

    short_link: str
    full_link: str
    frames: Mapping[str, str]
    svg_addresses: Mapping[str, str]
    png_addresses: Mapping[str, str]
    json_address: str
    memo_address: str
    markdown: str
    scenario_json: str
    file_names: Mapping[str, str]


def share_items(
    scenario: Scenario,
    preset: Preset,
    presets: Mapping[str, Preset],
    base_url: str,
    evaluation: Evaluation | None = None,
    language: str = LANGUAGES[0],
) -> ShareItems:
    """base_url: the page's own address, query allowed. evaluation: where it is known already. language: of
    the Markdown, and of what the live addresses answer.

    ValueError for an address that is not http(s), and as for an evaluation.
    """
    root, base = root_address(base_url), base_preset(preset, presets)
    short = short_link(root, scenario, base)
    report = report_of(scenario, base, evaluation=evaluation, link=short, language=language)
    names = {
        f"{view}.{suffix}": file_name(scenario, base, view, suffix)
        for view in VIEWS
        for suffix in ("svg", "png")
    }
    for what in ("memo.md", "page.html", "scenario.json", "answer.json", "answer.csv"):
        stem, _, suffix = what.partition(".")
        names[what] = file_name(scenario, base, stem, suffix)
    return ShareItems(
        short_link=short,
        full_link=full_link(root, scenario, base),
        frames={view: frame_snippet(root, scenario, base, view) for view in FRAME_VIEWS},
        svg_addresses={
            view: live_address(root, "chart.svg", scenario, base, view, language=language) for view in VIEWS
        },
        png_addresses={
            view: live_address(root, "chart.png", scenario, base, view, language=language) for view in VIEWS
        },
        json_address=live_address(root, "api/v1/evaluate", scenario, base, language=language),
        memo_address=live_address(root, "memo.md", scenario, base, language=language),
        markdown=summary_text(report),
        scenario_json=json_text(scenario.model_dump(mode="json")),
        file_names=names,
    )


def summary_text(report: Report) -> str:
    """The verdict, a small table and the link, as Markdown for a chat, an issue or a wiki."""
    lines = [f"**{markdown(report.title)}**", "", markdown(report.case), ""]
    lines += [markdown(report.edits_sentence), ""] if report.edited else []
    lines += [markdown(report.headline), "", *table(*summary_table(report)), ""]
    lines += [f"{markdown(report.flips_sentence)} {report.text('all_estimated')}".lstrip()]
    lines += ["", f"[{report.text('open')}](<{report.link}>)"] if report.link else []
    return "\n".join(lines) + "\n"
