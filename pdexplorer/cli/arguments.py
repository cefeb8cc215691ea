"""Arguments that several commands take, for argparse."""

import argparse


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """SCENARIO and `--set`."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a preset's name, a TOML file or a link")
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="dotted keys, such as workload.input_tokens=32000 network.link=roce_200",
    )
