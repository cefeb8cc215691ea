"""What a query string is answered with, as a file: the live addresses beside a page, without the server."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TypeVar, cast
from urllib.parse import parse_qs

from pdexplorer import MODEL_VERSION
from pdexplorer.export.images import chart_png, chart_svg
from pdexplorer.export.json_text import json_text
from pdexplorer.export.links import file_name, live_address, short_link
from pdexplorer.export.memo import memo_text
from pdexplorer.export.page import page_html
from pdexplorer.export.report import Report, answered, report_of
from pdexplorer.scenario.link import LinkResult, parse_link, unknown_choice
from pdexplorer.scenario.presets import Preset, find_preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.texts.catalogue import LANGUAGES, Texts

MAX_QUERY_CHARACTERS = 16_000
"""A full link has about 3,000; a model of one's own and some overrides fit several times."""

_EVALUATIONS, _FILES = 128, 64
_VIEW = "map"
_T = TypeVar("_T")


@dataclass(frozen=True)
class LiveFile:
    """A file's bytes and the name it would be kept under."""

    body: bytes
    name: str


class Recent:
    """The last so many results by key. Safe for threads; two that ask at once may both work it out."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The result under that key, made now where it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast(_T, self._kept[key])
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


class LiveAnswers:
    """Answers queries, keeping recent evaluations and files. Every method raises ValueError, one line, for an
    unknown preset or view, a query that is too long, and a scenario that cannot be evaluated or drawn; any
    other key that cannot be used is refused and noted in the answer, as on the page.

    answer: where scenarios are evaluated, as `answered` does.
    """

    def __init__(self, answer: Callable[[Scenario], Evaluation] = answered) -> None:
        self._answer = answer
        self._evaluations = Recent(_EVALUATIONS)
        self._files = Recent(_FILES)

    def evaluate(self, query: str, presets: Mapping[str, Preset], root: str) -> LiveFile:
        """The shell's `evaluate --json`, with preset, refused keys and what has changed since the link."""
        link = read_query(query, presets)
        refused = [{"key": r.key, "value": r.value, "why": r.why} for r in link.refused]
        more = {"preset": link.preset.name, "refused": refused, "changed": list(link.changed)}
        body = json_text({**self._evaluated(link.scenario).to_json(), **more}).encode()
        return LiveFile(body, file_name(link.scenario, link.preset, "answer", "json"))

    def svg(self, query: str, presets: Mapping[str, Preset], root: str) -> LiveFile:
        """The chart of the query's view: map, unless it says cost."""
        return self._chart("svg", query, presets, root)

    def png(self, query: str, presets: Mapping[str, Preset], root: str) -> LiveFile:
        """The same as pixels."""
        return self._chart("png", query, presets, root)

    def memo(self, query: str, presets: Mapping[str, Preset], root: str) -> LiveFile:
        """The design-review memo, its map at this process's own address."""
        link = read_query(query, presets)
        language = _language(query)
        picture = live_address(root, "chart.svg", link.scenario, link.preset, "map", language)
        return LiveFile(
            memo_text(self._report(link, root, language), picture).encode(),
            file_name(link.scenario, link.preset, "memo", "md"),
        )

    def page(self, query: str, presets: Mapping[str, Preset], root: str) -> LiveFile:
        """The answer as one HTML file that needs nothing else."""
        link = read_query(query, presets)
        language = _language(query)
        body = self._file(
            link, f"html.{language}", root, lambda: page_html(self._report(link, root, language)).encode()
        )
        return LiveFile(body, file_name(link.scenario, link.preset, "page", "html"))

    def _chart(self, suffix: str, query: str, presets: Mapping[str, Preset], root: str) -> LiveFile:
        link = read_query(query, presets)
        view = parse_qs(query).get("view", [_VIEW])[-1]
        draw = chart_svg if suffix == "svg" else chart_png
        language = _language(query)
        what = f"{view}.{language}.{suffix}"
        body = self._file(link, what, "", lambda: draw(self._report(link, root, language), view))
        return LiveFile(body, file_name(link.scenario, link.preset, view, suffix))

    def _file(self, link: LinkResult, what: str, root: str, make: Callable[[], bytes]) -> bytes:
        preset = (link.preset.name, link.preset.title, link.preset.why, link.preset.hash)
        key = (what, root, link.scenario.model_dump_json(), preset, _notes(link, LANGUAGES[0]), MODEL_VERSION)
        return self._files.get(key, make)

    def _report(self, link: LinkResult, root: str, language: str) -> Report:
        address = short_link(root, link.scenario, link.preset)
        if language != LANGUAGES[0]:
            address = f"{address}&lang={language}"
        evaluation, notes = self._evaluated(link.scenario), _notes(link, language)
        return report_of(
            link.scenario, link.preset, evaluation=evaluation, link=address, notes=notes, language=language
        )

    def _evaluated(self, scenario: Scenario) -> Evaluation:
        return self._evaluations.get(
            (scenario.model_dump_json(), MODEL_VERSION), partial(self._answer, scenario)
        )


def read_query(query: str, presets: Mapping[str, Preset]) -> LinkResult:
    """The question of a query string. ValueError where it is too long or names a preset there is not."""
    if len(query) > MAX_QUERY_CHARACTERS:
        raise ValueError(f"query: allowed are {MAX_QUERY_CHARACTERS:,} characters; this has {len(query):,}")
    link = parse_link(f"?{query}", presets)
    for refusal in link.refused:
        if refusal.key == "link":
            raise ValueError(f"query: {refusal.why}")
        if refusal.key == "preset":
            find_preset(refusal.value, presets)
    asked = parse_qs(query).get("lang", [None])[-1]
    return replace(link, refused=(*link.refused, *unknown_choice("lang", asked, LANGUAGES)))


def _language(query: str) -> str:
    """What the link asks for in `lang`; one there is not is said and is as none."""
    asked = parse_qs(query).get("lang", [LANGUAGES[0]])[-1]
    return asked if asked in LANGUAGES else LANGUAGES[0]


def _notes(link: LinkResult, language: str) -> tuple[str, ...]:
    texts = Texts(language)
    refused = (texts.text("export.not_used", why=texts.said(refusal.text)) for refusal in link.refused)
    return (*refused, *(texts.said(line) for line in link.changed))
