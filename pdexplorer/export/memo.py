"""A memo for a design review, in Markdown: question, answer, why, costs, what it rests on, what next."""

from collections.abc import Iterable, Sequence

from pdexplorer import MODEL_VERSION
from pdexplorer.export.accuracy import accuracy_lines
from pdexplorer.export.benchmark import advice, load_command, servers
from pdexplorer.export.report import Report, describe
from pdexplorer.export.tables import Row, cannot_lines, cost_table, fleet_table, flip_table, sensitivity_table
from pdexplorer.study.words import BASIS, OFFLINE, VETO

_MARKS = "\\`*[]<>|"


def memo_text(report: Report, map_address: str = "") -> str:
    """The memo. map_address: where the map's picture is served, shown in the memo where given."""
    lines = [f"# Does splitting prefill and decode pay? {markdown(report.title)}", ""]
    for note in report.notes:
        lines += [f"> Note: {markdown(note)}", ""]
    lines += [markdown(report.case), ""]
    lines += [markdown(report.edits_sentence), ""] if report.edited else []
    lines += [f"**{markdown(report.headline)}**", ""]
    lines += (
        ["Because:", "", *(f"- {markdown(reason)}" for reason in report.reasons), ""]
        if report.reasons
        else []
    )
    for line in after_reasons(report):
        lines += [markdown(line), ""]
    lines += _section("Question", _question(report))
    lines += _section("Scenario", _scenario(report))
    lines += _section("Both fleets, estimated", table(*fleet_table(report)))
    lines += _section("Cost of a request in its four parts, estimated", _cost(report))
    lines += _section("Break-even map, estimated", _map(report, map_address))
    lines += _section("What would change the answer", _flips(report))
    lines += _section("What the gain depends on most, estimated", _sensitivity(report))
    lines += _section("What to benchmark next", _benchmark(report))
    lines += _section("How far to trust this", [f"- {markdown(line)}" for line in accuracy_lines(report)])
    lines += _section("Sources", [f"- {markdown(line)}" for line in report.evaluation.sources])
    lines += [
        f"pdexplorer, model version {MODEL_VERSION}, preset {report.preset.name}, {report.preset.hash}."
    ]
    lines += [f"Live and editable: <{report.link}>"] if report.link else []
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
    return [VETO[veto] for veto in report.answer["verdict"]["vetoes"]]


def after_reasons(report: Report) -> list[str]:
    """What qualifies the verdict: vetoes, nearest flips, and what a fleet lacks, a sentence each."""
    held = [f"Held back by: {', '.join(vetoes(report))}."] if vetoes(report) else []
    flips = [report.flips_sentence] if report.flips_sentence else []
    return [*held, *flips, *cannot_lines(report)]


def question_lines(report: Report) -> list[str]:
    """What was asked, in two sentences."""
    offline = report.scenario.workload.mode == "offline"
    where = OFFLINE if offline else BASIS[report.scenario.compare.basis]
    return [
        "For this model, traffic, hardware and network: do separate prefill and decode pools beat the best "
        f"batched colocated fleet {where}, at the same latency limits?",
        *([report.why] if report.why else []),
    ]


def setting_rows(report: Report) -> tuple[Row, list[Row]]:
    """Head and rows: what differs from the defaults, edits of the preset marked."""
    rows: list[Row] = []
    for key, value in report.settings.items():
        by = "edited" if key in report.edited else "preset"
        rows.append((key, value, by, describe(key)))
    # an edit back to a default differs from the preset alone
    rows += [(k, v, "edited", describe(k)) for k, v in report.edited.items() if k not in report.settings]
    return ("setting", "value", "from", "what it is"), rows


def _question(report: Report) -> list[str]:
    return [part for line in question_lines(report) for part in (markdown(line), "")][:-1]


def _scenario(report: Report) -> list[str]:
    head, rows = setting_rows(report)
    if not rows:
        return ["Every setting stands at its default."]
    body = [f"| {' | '.join(markdown(cell) for cell in row)} |" for row in (head, *rows)]
    return [
        "What differs from the defaults; `pdexplorer evaluate` takes the same keys.", "",
        body[0], "| --- | ---: | --- | --- |", *body[1:],
    ]  # fmt: skip


def _cost(report: Report) -> list[str]:
    head, rows = cost_table(report)
    if not rows:
        return ["No price, so no cost: the comparison is per GPU."]
    return [
        *table(head, rows),
        "",
        "The four parts are measured on their own and add up to fleet cost ÷ requests.",
    ]


def _map(report: Report, address: str) -> list[str]:
    picture = [f"![Break-even map](<{address}>)", ""] if address else []
    return [*picture, markdown(report.map_sentence)]


def _flips(report: Report) -> list[str]:
    head, rows = flip_table(report)
    steady = report.steady_settings
    if not report.flips_sentence:
        return ["Not worked out: neither fleet can, so there is nothing to compare."]
    lines = table(head, rows) if rows else [report.flips_sentence]
    return (
        [*lines, "", f"No flip anywhere in the range of: {markdown(', '.join(steady))}."] if steady else lines
    )


def _sensitivity(report: Report) -> list[str]:
    head, rows = sensitivity_table(report)
    return table(head, rows) if rows else ["Not worked out: there is no gain to move."]


def _benchmark(report: Report) -> list[str]:
    lines = []
    if not servers(report):
        return ["Nothing yet: neither fleet could be sized."]
    for server in servers(report):
        count = "1 instance" if server.instances == 1 else f"{server.instances} instances"
        lines += [f"{server.name.capitalize()}, {count}:", "", "```sh", server.command, "```", ""]
    name = report.scenario.model.name
    lines += [f"MODEL is your checkpoint of {markdown(name)} in the weight format above. The load:", ""]
    lines += ["```sh", load_command(report.scenario), "```", ""]
    return [*lines, *(f"- {markdown(line)}" for line in advice(report))]


def _section(title: str, body: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *body, ""]
