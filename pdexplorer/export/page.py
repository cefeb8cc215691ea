"""One HTML file that opens anywhere, without a network or a script: the answer, its tables and its charts."""

from collections.abc import Iterable, Sequence
from html import escape

from pdexplorer import MODEL_VERSION
from pdexplorer.export.accuracy import accuracy_lines
from pdexplorer.export.benchmark import advice, instances_line, load_command, servers
from pdexplorer.export.drawing import Drawer, shared_drawer
from pdexplorer.export.images import chart_alt, chart_spec, chart_title
from pdexplorer.export.inline_svg import DARK_RULES, inlined
from pdexplorer.export.memo import after_reasons, question_lines, setting_rows
from pdexplorer.export.report import Report
from pdexplorer.export.tables import Row, cost_table, fleet_table, flip_table, sensitivity_table

_STYLE = (
    ":root{color-scheme:light dark;--ink:#1b1b1f;--muted:#5a5b60;--ground:#fff;--line:#d9d9e0;--box:#f5f4f9;"
    "--accent:#5b3e96}"
    "@media (prefers-color-scheme:dark){:root{--ink:#ececf0;--muted:#b9b9c2;--ground:#16161a;--line:#3c3c46;"
    "--box:#222229;--accent:#c3aef0}" + DARK_RULES + "}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:60rem;padding:1.2rem;background:var(--ground);color:var(--ink);"
    "font:16px/1.5 'Source Sans Pro','Noto Sans','Noto Sans CJK SC',system-ui,sans-serif}"
    "h1{font-size:1.35rem;margin:0 0 .2rem}h2{font-size:1.1rem;margin:1.8rem 0 .5rem}p{margin:.4rem 0}"
    ".muted{color:var(--muted)}a{color:var(--accent)}"
    ".verdict{background:var(--box);border-left:4px solid var(--accent);padding:.6rem 1rem;margin:1rem 0}"
    ".verdict p:first-child{font-size:1.15rem;font-weight:700}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{border-bottom:1px solid var(--line);padding:.25rem .6rem;text-align:right;vertical-align:top}"
    "th:first-child,td:first-child,.words th,.words td{text-align:left}th{font-weight:600}"
    "td:first-child{min-width:9rem}.words td:first-child{white-space:nowrap}"
    "figure{margin:.6rem 0;overflow-x:auto}figure svg{display:block;width:100%;min-width:36rem;height:auto}"
    "pre{background:var(--box);padding:.6rem .8rem;overflow-x:auto;font-size:.85rem}"
    "ul{margin:.3rem 0;padding-left:1.3rem}li{margin:.2rem 0;overflow-wrap:anywhere}"
    "footer{margin-top:2rem;border-top:1px solid var(--line)}"
    "@media (max-width:30rem){body{padding:.8rem}table{font-size:.85rem}th,td{padding:.2rem .3rem}"
    "td:first-child{min-width:0}}"
    "@media print{body{max-width:none}pre{white-space:pre-wrap}h2{break-after:avoid}"
    "figure,tr{break-inside:avoid}}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page_html(report: Report, drawer: Drawer | None = None) -> str:
    """The file's text. RuntimeError where the renderer fails; a chart with nothing to draw is left out."""
    drawer = drawer or shared_drawer()
    text = report.text
    title = escape(text("page_title", title=report.title))
    words = {"en": "en", "zh": "zh-Hans"}[report.language]
    parts = [
        f'<!doctype html>\n<html lang="{words}">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
        f"<h1>{title}</h1>",
        _paragraph(report.case, "muted"),
        *(_paragraph(line, "muted") for line in [report.edits_sentence] if line),
        *(_paragraph(text("note", note=note)) for note in report.notes),
        _verdict(report),
        _chart(report, "cost", drawer),
        _table(*cost_table(report), text("table_cost")),
        _chart(report, "map", drawer),
        _paragraph(report.map_sentence),
        _heading(text("section_fleets")),
        _table(*fleet_table(report), text("section_fleets")),
        _heading(text("section_flips")),
        _flips(report),
        _heading(text("section_sensitivity")),
        _table(*sensitivity_table(report), text("section_sensitivity")) or _paragraph(text("no_sensitivity")),
        _heading(text("section_question")),
        *(_paragraph(line) for line in question_lines(report)),
        _paragraph(text("settings_differ")),
        _table(*setting_rows(report), text("table_settings"), words=True),
        _heading(text("section_benchmark")),
        _benchmark(report),
        _heading(text("section_trust")),
        _list(accuracy_lines(report)),
        _heading(text("section_sources")),
        _list(report.evaluation.sources),
        _footer(report),
        "</main>\n</body>\n</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _heading(words: str) -> str:
    return f"<h2>{escape(words)}</h2>"


def _verdict(report: Report) -> str:
    parts = [_paragraph(report.headline)]
    parts += [_paragraph(report.text("because")), _list(report.reasons)] if report.reasons else []
    parts += [_paragraph(line) for line in after_reasons(report)]
    return f'<section class="verdict">{"".join(parts)}</section>'


def _chart(report: Report, view: str, drawer: Drawer) -> str:
    heading = _heading(chart_title(report, view))
    try:
        spec = chart_spec(report, view, titled=False)
    except ValueError as error:
        return heading + _paragraph(
            f"{str(error)[:1].upper()}{str(error)[1:]}{report.texts.text('verdict.end')}"
        )
    label, picture = escape(chart_alt(report, view)), inlined(drawer.draw(spec, "svg"), view)
    return f'{heading}\n<figure role="img" aria-label="{label}">{picture}</figure>'


def _flips(report: Report) -> str:
    head, rows = flip_table(report)
    if not report.flips_sentence:
        return _paragraph(report.text("no_flips_known"))
    steady = report.steady_settings
    body = _table(head, rows, report.text("section_flips")) if rows else _paragraph(report.flips_sentence)
    return body + (_paragraph(report.text("steady", names=", ".join(steady))) if steady else "")


def _benchmark(report: Report) -> str:
    parts = []
    if not servers(report):
        return _paragraph(report.text("no_servers"))
    for server in servers(report):
        parts.append(_paragraph(instances_line(report, server)))
        parts.append(f"<pre>{escape(server.command)}</pre>")
    parts.append(_paragraph(report.text("checkpoint", model=report.scenario.model.name)))
    parts.append(f"<pre>{escape(load_command(report.scenario))}</pre>")
    parts.append(_list(advice(report)))
    return "\n".join(parts)


def _footer(report: Report) -> str:
    preset, live = report.preset, escape(report.text("live"))
    made = report.text("made_by", version=MODEL_VERSION, preset=preset.name, hash=preset.hash)
    link = f' <a href="{escape(report.link)}" rel="noreferrer">{live}</a>' if report.link else ""
    return f'<footer><p class="muted">{escape(made)}{link}</p></footer>'


def _table(head: Row, rows: Sequence[Row], caption: str, words: bool = False) -> str:
    if not rows:
        return ""
    first = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    kind = ' class="words"' if words else ""
    return (
        f'<div class="scroll"><table{kind} aria-label="{escape(caption)}"><thead><tr>{first}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={kind!r}' if kind else ''}>{escape(text)}</p>"
