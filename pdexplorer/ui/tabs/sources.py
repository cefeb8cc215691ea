"""Where the numbers on the page come from: every figure in use with unit, kind and source."""

import re
from collections.abc import Iterable, Mapping

import pandas as pd
import streamlit as st

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.figure import Figure
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.fields import number_text
from pdexplorer.ui.overrides import figure_label
from pdexplorer.ui.tabs.studies import table
from pdexplorer.ui.texts import choice_text, language, said, text


def sources(answer: Answered) -> None:
    """What the answer rests on, then the catalogue's figures of everything the scenario names."""
    scenario, evaluation, catalog = answer.scenario, answer.evaluation, answer.catalog
    st.caption(text("sources.about"))
    names = {
        identifier: str(record.name)
        for records in (catalog.accelerators, catalog.links, catalog.engines, catalog.models)
        for identifier, record in records.items()
    }
    lines = list(evaluation.sources)
    if lines:
        st.markdown(f"**{text('sources.results')}**")
        table([answer_cells(line, names) for line in lines], height=300)
    st.markdown(f"**{text('sources.figures')}**")
    table(source_frame(scenario, catalog).to_dict("records"), height=420)


def answer_cells(line: str, names: Mapping[str, str]) -> Mapping[str, str]:
    """What the answer rests on: `item: kind, source` a line. names: by id, of what items are called."""
    item, _, rest = line.partition(": ")
    first, _, source = rest.partition(", ")
    kind = first.partition(" ")[0]
    if item == "price":
        words = said(rest.replace("$", "USD "))
        kind, source = "", re.sub(r"^\w+", lambda word: names.get(word[0], word[0]), words)
    elif choice_text("source", kind) == kind and language() == "zh":
        kind, source = "", rest
    elif kind == "github":
        source = rest
    else:
        source = said(source)
    item = re.sub(r"serving over kernels|\w+", lambda word: _called(word[0], names), item)
    cells = (item, choice_text("source", kind), source)
    return dict(zip([text(f"column.{name}") for name in ("item", "kind", "source")], cells, strict=True))


def _called(word: str, names: Mapping[str, str]) -> str:
    if word in names:
        return names[word]
    return figure_label(word) if "_" in word else choice_text("item", word)


def source_frame(scenario: Scenario, catalog: Catalog) -> pd.DataFrame:
    """One row a figure: item, figure, value, unit, kind, source."""
    rows: list[dict[str, str]] = []
    devices = (scenario.prefill.accelerator, scenario.decode.accelerator, scenario.colocated.accelerator)
    for identifier in dict.fromkeys([*(d for d in devices if d), *scenario.compare.accelerators]):
        if identifier in catalog.accelerators:
            device = catalog.accelerators[identifier]
            rows += _figures(device.name, device.figures)
    if scenario.network.link in catalog.links:
        link = catalog.links[scenario.network.link]
        rows += _figures(link.name, link.figures)
    for identifier in dict.fromkeys((scenario.engine.profile, scenario.colocated_engine)):
        engine = catalog.engines[identifier]
        rows += _figures(engine.name, engine.figures)
    if scenario.model.name in catalog.model_sources:
        rows.append(
            _row(
                catalog.models[scenario.model.name].name,
                choice_text("item", "config"),
                "",
                "",
                catalog.model_sources[scenario.model.name],
            )
        )
    return pd.DataFrame(rows, columns=_columns())


def _figures(item: str, figures: Mapping[str, Figure]) -> Iterable[dict[str, str]]:
    for name, figure in figures.items():
        yield _row(
            item,
            figure_label(name),
            number_text(figure.value),
            choice_text("source", figure.kind),
            figure.source,
        )


def _row(item: str, figure: str, value: str, kind: str, source: str) -> dict[str, str]:
    return dict(zip(_columns(), (item, figure, value, kind, source), strict=True))


def _columns() -> list[str]:
    return [text(f"column.{name}") for name in ("item", "figure", "value", "kind", "source")]
