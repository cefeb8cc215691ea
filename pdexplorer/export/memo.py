"""A memo for a design review, in Markdown: question, answer, why, costs, what it rests on, what next."""

from collections.abc import Iterable, Sequence

from pdexplorer import MODEL_VERSION
from pdexplorer.export.accuracy import accuracy_lines
from pdexplorer.export.benchmark import advice, instances_line, load_command, servers
from pdexplorer.export.report import Report, describe
from pdexplorer.export.tables import Row, cannot_lines, cost_table, fleet_table, flip_table, sensitivity_table

_MARKS = "\\`*[]<>|"


def memo_text(report: Report, map_address: str = "") -> str:
    """The memo. map_address: where the map's picture is served, shown in the memo where given."""
    text = report.text
    lines = [f"# {text('title', title=markdown(report.title))}", ""]
    for note in report.notes:
        lines += [f"> {text('note', note=markdown(note))}", ""]
    lines += [markdown(report.case), ""]
    lines += [markdown(report.edits_sentence), ""] if report.edited else []
    lines += [f"**{markdown(report.headline)}**", ""]
    lines += (
        [text("because"), "", *(f"- {markdown(reason)}" for reason in report.reasons), ""]
        if report.reasons
        else []
    )
    for line in after_reasons(report):
        lines += [markdown(line), ""]
    lines += _section(text("section_question"), _question(report))
    lines += _section(text("section_scenario"), _scenario(report))
    lines += _section(text("section_fleets"), table(*fleet_table(report)))
    lines += _section(text("section_cost"), _cost(report))
    lines += _section(text("section_map"), _map(report, map_address))
    lines += _section(text("section_flips"), _flips(report))
    lines += _section(text("section_sensitivity"), _sensitivity(report))
    lines += _section(text("section_benchmark"), _benchmark(report))
    lines += _section(text("section_trust"), [f"- {markdown(line)}" for line in accuracy_lines(report)])
    lines += _section(text("section_sources"), [f"- {markdown(line)}" for line in report.evaluation.sources])
    preset = report.preset
    lines += [text("made_by", version=MODEL_VERSION, preset=preset.name, hash=preset.hash)]
    lines += [f"{text('live')}: <{report.link}>"] if report.link else []
    return "\n".join(lines).rstrip() + "\n"


def markdown(text: str) -> str:
    """The text on one line, nothing in it taken for markup: titles and values are other people's words."""
    line = " ".join(text.split())
    for mark in _MARKS:
        line = line.replace(mark, f"\\{mark}")
    return line.replace("\\`", "'")


def table(head: Row, rows: Sequence[Row]) -> list[str]:
    """A Markdown table; numbers to the right."""
    ruler = "| --- |" + " ---: |" * (len(head) - 1)
    body = [f"| {' | '.join(markdown(cell) for cell in row)} |" for row in (head, *rows)]
    return [body[0], ruler, *body[1:]]


def vetoes(report: Report) -> list[str]:
    """What speaks against splitting, in words."""
    return [report.texts.text(f"veto.{veto}") for veto in report.answer["verdict"]["vetoes"]]


def after_reasons(report: Report) -> list[str]:
    """What qualifies the verdict: vetoes, nearest flips, and what a fleet lacks, a sentence each."""
    held = [report.text("held_back", vetoes=", ".join(vetoes(report)))] if vetoes(report) else []
    flips = [report.flips_sentence] if report.flips_sentence else []
    return [*held, *flips, *cannot_lines(report)]


def question_lines(report: Report) -> list[str]:
    """What was asked, in two sentences."""
    offline = report.scenario.workload.mode == "offline"
    basis = report.text(f"basis.{'offline' if offline else report.scenario.compare.basis}")
    return [report.text("asked", basis=basis), *([report.why] if report.why else [])]


def setting_rows(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: what differs from the defaults, edits of the preset marked."""
    rows: list[Row] = []
    edited, preset = report.text("by_edit"), report.text("by_preset")
    for key, value in report.settings.items():
        by = edited if key in report.edited else preset
        rows.append((key, value, by, describe(report.texts, key)))
    # an edit back to a default differs from the preset alone
    back = {key: value for key, value in report.edited.items() if key not in report.settings}
    rows += [(key, value, edited, describe(report.texts, key)) for key, value in back.items()]
    return tuple(report.text(name) for name in ("setting", "value", "from", "what")), rows


def _question(report: Report) -> list[str]:
    return [part for line in question_lines(report) for part in (markdown(line), "")][:-1]


def _scenario(report: Report) -> list[str]:
    head, rows = setting_rows(report)
    if not rows:
        return [report.text("settings_default")]
    body = [f"| {' | '.join(markdown(cell) for cell in row)} |" for row in (head, *rows)]
    return [
        report.text("settings_about"), "",
        body[0], "| --- | ---: | --- | --- |", *body[1:],
    ]  # fmt: skip


def _cost(report: Report) -> list[str]:
    head, rows = cost_table(report)
    if not rows:
        return [report.text("no_price")]
    return [*table(head, rows), "", report.text("cost_adds_up")]


def _map(report: Report, address: str) -> list[str]:
    picture = [f"![{report.text('section_map')}](<{address}>)", ""] if address else []
    return [*picture, markdown(report.map_sentence)]


def _flips(report: Report) -> list[str]:
    head, rows = flip_table(report)
    steady = report.steady_settings
    if not report.flips_sentence:
        return [report.text("no_flips_known")]
    lines = table(head, rows) if rows else [report.flips_sentence]
    return [*lines, "", report.text("steady", names=markdown(", ".join(steady)))] if steady else lines


def _sensitivity(report: Report) -> list[str]:
    head, rows = sensitivity_table(report)
    return table(head, rows) if rows else [report.text("no_sensitivity")]


def _benchmark(report: Report) -> list[str]:
    lines = []
    if not servers(report):
        return [report.text("no_servers")]
    for server in servers(report):
        lines += [instances_line(report, server), "", "```sh", server.command, "```", ""]
    lines += [report.text("checkpoint", model=markdown(report.scenario.model.name)), ""]
    lines += ["```sh", load_command(report.scenario), "```", ""]
    return [*lines, *(f"- {markdown(line)}" for line in advice(report))]


def _section(title: str, body: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *body, ""]
