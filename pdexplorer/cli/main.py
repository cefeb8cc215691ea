"""The shell command: evaluate, simulate, presets, catalog, model, steptime, export, app.

Commands import what they need when they run, so that `evaluate` starts without the page's libraries.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from pdexplorer import MODEL_VERSION
from pdexplorer.cli.accuracy import add_accuracy, run_accuracy
from pdexplorer.cli.arguments import add_scenario
from pdexplorer.cli.export import add_export
from pdexplorer.export.named_errors import naming

_BAD_INPUT = 2
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Bad input is one line on stderr and exit 2, never a traceback."""
    try:
        arguments = _parser().parse_args(argv)
        command: Callable[[argparse.Namespace], int | None] = _COMMANDS[arguments.command]
        status = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # whoever read us (head, less) has seen enough; keep the interpreter's own flush quiet too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        return _complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except ValueError as error:
        return _complain(str(error))
    return status or 0


def _complain(message: str) -> int:
    print(f"pdexplorer: {' '.join(message.split())}", file=sys.stderr)
    return _BAD_INPUT


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pdexplorer",
        description="When does splitting LLM prefill and decode onto separate pools pay?",
    )
    parser.add_argument("--version", action="version", version=f"pdexplorer, model version {MODEL_VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    evaluate = commands.add_parser("evaluate", help="the verdict for one scenario, from the closed form")
    _add_scenario(evaluate)

    simulate = commands.add_parser("simulate", help="request by request through the fleets evaluate sized")
    _add_scenario(simulate)
    simulate.add_argument("--fleet", choices=("colocated", "disaggregated", "both"), default="both")
    simulate.add_argument("--requests", metavar="N", help="how many (default 2,000; a trace: all of it)")
    simulate.add_argument("--rate-scale", metavar="X", default="1", help="arrivals X times as fast")
    simulate.add_argument("--window", metavar="START:END", help="seconds of the trace to replay")
    simulate.add_argument("--seed", metavar="S", default="0", help="seed of all random streams")
    simulate.add_argument("--trace", metavar="FILE", help="an Azure, Mooncake, BurstGPT or vidur trace")
    simulate.add_argument("--per-request", metavar="OUT.csv", help="write one row a request and fleet")

    commands.add_parser("presets", help="the presets and why each is there")

    catalog = commands.add_parser("catalog", help="what the catalogue knows; every number has a source")
    catalog.add_argument("kind", nargs="?", choices=("accelerators", "models", "networks", "fit"))
    catalog.add_argument(
        "files",
        metavar="FILES",
        nargs="*",
        help="with fit: measured step times and all-reduces; or serving runs, which are fitted after the "
        "others and in a call of their own (minutes)",
    )
    catalog.add_argument("--out", metavar="FILE", help="with fit: where to write the numbers")
    catalog.add_argument("--json", action="store_true", help="with kind and source of every number")

    model = commands.add_parser("model", help="a model of your own, from its config.json")
    what = model.add_subparsers(dest="what", required=True, metavar="import", parser_class=_Parser)
    imported = what.add_parser("import", help="what a Hugging Face config.json says")
    imported.add_argument("config", metavar="CONFIG.json")
    imported.add_argument("--json", action="store_true", help="the same as JSON")
    imported.add_argument("--out", metavar="SCENARIO.toml", help="write a scenario file with this model")

    steptime = commands.add_parser("steptime", help="predicted engine step times for a table of points")
    steptime.add_argument("points", metavar="POINTS.csv")
    steptime.add_argument("--overhead", choices=("none", "engine"), default="none")
    steptime.add_argument("--out", metavar="FILE", help="where to write (default: standard output)")

    add_export(commands)
    add_accuracy(commands)

    app = commands.add_parser("app", help="open the page")
    app.add_argument("--port", metavar="PORT", default="8501")
    app.add_argument(
        "--address", metavar="ADDRESS", default="127.0.0.1", help="0.0.0.0 shows it to your network"
    )
    return parser


def _add_scenario(parser: argparse.ArgumentParser) -> None:
    add_scenario(parser)
    parser.add_argument("--json", action="store_true", help="the result as JSON")


def _evaluate(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.runs import evaluate

    evaluate(arguments)


def _simulate(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.runs import simulate

    simulate(arguments)


def _presets(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.lists import presets

    presets()


def _catalog(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.lists import catalog

    if arguments.kind == "fit":
        from pdexplorer.cli.fit import fit_catalog

        if not arguments.files:
            raise ValueError("catalog fit needs FILES: CSV files of measured step times or of serving runs")
        for file in arguments.files:
            _check_table(file, arguments.out)
        with naming(arguments.out or "standard output"):
            fit_catalog(arguments.files, arguments.out)
        return
    if arguments.files or arguments.out:
        raise ValueError("catalog: FILES and --out go with `catalog fit`")
    catalog(arguments.kind, as_json=arguments.json)


def _model(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.model import import_model

    import_model(arguments)


def _steptime(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.steptime import steptime

    steptime(arguments.points, arguments.overhead, arguments.out)


def _accuracy(arguments: argparse.Namespace) -> None:
    _check_table(arguments.file, arguments.out)
    with naming(arguments.out or "standard output"):
        run_accuracy(arguments)


def _check_table(file: str, out: str | None) -> None:
    from pdexplorer.cli.table import check_out, checked_lines

    checked_lines(file)
    check_out(out)


def _export(arguments: argparse.Namespace) -> None:
    from pdexplorer.cli.export import export

    export(arguments)


def _app(arguments: argparse.Namespace) -> int:
    from pdexplorer.ui.launch import launch

    if not (arguments.port.isascii() and arguments.port.isdecimal() and 0 < int(arguments.port) < 65_536):
        raise ValueError(f"--port {arguments.port}: allowed is a whole number from 1 to 65,535")
    return launch(port=int(arguments.port), address=arguments.address)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "evaluate": _evaluate,
    "simulate": _simulate,
    "presets": _presets,
    "catalog": _catalog,
    "model": _model,
    "steptime": _steptime,
    "accuracy": _accuracy,
    "export": _export,
    "app": _app,
}
