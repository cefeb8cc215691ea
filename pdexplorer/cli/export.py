"""`export`: an answer as files for a review, a slide or a page without a network."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdexplorer.cli.arguments import add_scenario

if TYPE_CHECKING:  # the parser is built for every command; only `export` itself pays for these
    from pdexplorer.export.report import Report
    from pdexplorer.scenario.presets import Preset

_FORMATS: Mapping[str, str] = {
    "memo": "a memo for a design review, in Markdown",
    "html": "one HTML file that opens without a network",
    "svg": "the chart of --view as SVG",
    "png": "the chart of --view as PNG",
}


def add_export(subparsers: Any) -> None:
    """The command's arguments, on argparse's subparsers. Its function is `export`."""
    parser = subparsers.add_parser("export", help="the answer as a memo, a page or a chart file")
    add_scenario(parser)
    for name, what in _FORMATS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=what)
    parser.add_argument("--view", choices=("cost", "map"), default="map", help="which chart (default: map)")
    parser.add_argument("--lang", choices=("en", "zh"), default="en", help="language (default: en)")
    parser.add_argument(
        "--address", metavar="URL", help="where your page stands, for the links back (default: localhost)"
    )


def export(arguments: argparse.Namespace) -> None:
    """Writes every file that was asked for. ValueError, one line, for bad input, and once all else is written
    for a picture with nothing to draw; OSError for a file.
    """
    given = {name: getattr(arguments, name) for name in _FORMATS}
    wanted = {name: Path(file) for name, file in given.items() if file is not None}
    if not wanted:
        raise ValueError(f"export needs at least one of {', '.join(f'--{name} FILE' for name in _FORMATS)}")
    from pdexplorer.scenario.settings import shown

    for name, path in wanted.items():
        if path.is_dir() or not path.parent.is_dir():
            raise ValueError(f"--{name} {shown(given[name])}: allowed is a file in an existing directory")
    from pdexplorer.cli.scenario import scenario_from
    from pdexplorer.cli.trace import own_trace
    from pdexplorer.export.links import LOCAL_ADDRESS, root_address, short_link
    from pdexplorer.export.named_errors import naming
    from pdexplorer.export.report import report_of
    from pdexplorer.texts.catalogue import LANGUAGES, Texts

    language = arguments.lang
    root = root_address(arguments.address or LOCAL_ADDRESS)
    traced = own_trace(scenario_from(arguments.scenario, arguments.settings)[0])
    scenario = traced.scenario
    preset, from_file = _preset_of(arguments.scenario)
    link = short_link(root, scenario, preset)
    # edits are listed in every export, so a preset's title stands without them
    title, why = _words_of(Path(arguments.scenario)) if from_file else Texts(language).preset(preset)
    link = f"{link}&lang={language}" if language != LANGUAGES[0] else link
    report = report_of(
        scenario, preset, link=link, notes=traced.notes, title=title, why=why, language=language
    )
    missing = []
    for name, path in wanted.items():
        try:
            body = _writers()[name](report, arguments.view)
        except ValueError as error:
            missing.append((name, str(error)))
            continue
        with naming(path):
            path.write_bytes(body)
        print(f"{path}: {_FORMATS[name].replace('--view', arguments.view)}")
    if missing:
        names = ", ".join(f"--{name}" for name, _ in missing)
        raise ValueError(f"{names} not written: {missing[0][1]}")


def _writers() -> Mapping[str, "Callable[[Report, str], bytes]"]:
    from pdexplorer.export.images import chart_png, chart_svg
    from pdexplorer.export.memo import memo_text
    from pdexplorer.export.page import page_html

    return {
        "memo": lambda report, view: memo_text(report).encode(),
        "html": lambda report, view: page_html(report).encode(),
        "svg": chart_svg,
        "png": chart_png,
    }


def _words_of(path: Path) -> tuple[str, str]:
    """A scenario file's title and why; its name where it has no title."""
    from pdexplorer.scenario.presets import read_titled

    _, title, why = read_titled(path)
    return title or path.name, why


def _preset_of(argument: str) -> "tuple[Preset, bool]":
    """What a link back tells the scenario as a difference from, and whether the scenario is a file's: that is
    told as a difference from what a bare link opens."""
    from pdexplorer.scenario.link import is_link, parse_link
    from pdexplorer.scenario.presets import DEFAULT_PRESET, load_presets

    presets = load_presets()
    if argument in presets:
        return presets[argument], False
    if is_link(argument):
        return parse_link(argument, presets).preset, False
    return presets[DEFAULT_PRESET], True
