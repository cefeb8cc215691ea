"""The SCENARIO argument of the shell: a preset's name, a TOML file or a link, plus `--set` keys."""

import sys
from collections.abc import Iterable
from pathlib import Path

from pdexplorer.scenario.keys import close_names
from pdexplorer.scenario.link import is_link, parse_link
from pdexplorer.scenario.presets import load_presets, read_titled
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import Refusal, apply_settings, refusals_line, shown


def scenario_from(argument: str, settings: Iterable[str] = ()) -> tuple[Scenario, str]:
    """The scenario and a title for it. ValueError is one line; in a shell a refused key is an error."""
    base, title = _base(argument)
    pairs: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--set {shown(setting)}: allowed is key=value, such as --set slo.ttft_s=1")
        key = key.strip()
        if key in pairs:
            raise ValueError(
                f"--set {shown(setting)}: {shown(key)} is set before, to {shown(pairs[key])}; allowed is once"
            )
        pairs[key] = value
    scenario, refused = apply_settings(base, pairs)
    _raise_refused(refused)
    return scenario, title if scenario == base else f"{title} (with {', '.join(pairs)} set)"


def _base(argument: str) -> tuple[Scenario, str]:
    presets = load_presets()
    for problem in presets.problems:
        print(f"pdexplorer: left out: {problem}", file=sys.stderr)
    if argument in presets:
        return presets[argument].scenario, presets[argument].title
    if not argument.strip():
        raise ValueError("SCENARIO is empty: allowed is a preset's name, a TOML file or a link")
    path = Path(argument)
    if is_link(argument):
        result = parse_link(argument, presets)
        _raise_refused(result.refused)
        for change in result.changed:
            print(f"pdexplorer: {change}", file=sys.stderr)
        return result.scenario, result.preset.title
    if argument.endswith(".toml") or _exists(path):
        scenario, title, _ = read_titled(path)
        return scenario, title or argument
    close = close_names(argument, presets)
    raise ValueError(
        f"SCENARIO = {shown(argument)}: allowed is a preset's name{close} (see pdexplorer presets), "
        "a TOML file or a link"
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _raise_refused(refused: tuple[Refusal, ...]) -> None:
    if refused:
        raise ValueError(refusals_line(refused))
