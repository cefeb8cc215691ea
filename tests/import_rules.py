"""Which room may import which, and which third party belongs to which rooms."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "pdexplorer"

# a room may import any room of an earlier rank; rooms of one rank do not import each other
RANKS: dict[str, int] = {
    "": 0,
    "units": 0,
    "infeasible": 0,
    "catalog": 1,
    "scenario": 2,
    "workload": 3,
    "physics": 4,
    "steady": 5,
    "simulator": 5,
    "metrics": 6,
    "verdict": 7,
    "study": 8,
    "texts": 9,
    "evidence": 9,
    "charts": 10,
    "export": 11,
    "ui": 12,
    "cli": 12,
    "presets": 99,
}

_ALL = frozenset(RANKS)
_FROM_METRICS = frozenset(room for room, rank in RANKS.items() if rank >= RANKS["metrics"])
THIRD_PARTY: dict[str, frozenset[str]] = {
    "streamlit": frozenset({"ui"}),
    "starlette": frozenset({"ui"}),
    "altair": frozenset({"charts"}),
    "vl_convert": frozenset({"export"}),
    "simpy": frozenset({"simulator"}),
    "pydantic": frozenset({"catalog", "scenario"}),
    "pandas": _FROM_METRICS,
    "numpy": _ALL,
}

# `pdexplorer app` hands over to the page when it is asked to; nothing else crosses from the shell to the page
CROSSINGS = frozenset({("cli", "pdexplorer.ui.launch")})


def broken_rules(source: str, module: str, stdlib: frozenset[str]) -> list[str]:
    """One line for each import of the module's source that the rules forbid."""
    room = room_of(module)
    found = []
    for line, name in imported(source, module):
        top = name.partition(".")[0]
        where = f"{module}:{line} imports {name}"
        if top == PACKAGE:
            target = room_of(name)
            if target not in RANKS:
                found.append(f"{where}: {target} is not a room")
            elif room not in RANKS:
                found.append(f"{where}: {room} is not a room")
            elif (
                target != room
                and RANKS[target] >= RANKS[room]
                and (room, name) not in CROSSINGS
                and RANKS[target]
            ):
                found.append(f"{where}: {room} stands before {target}")
        elif top not in stdlib:
            if top not in THIRD_PARTY:
                found.append(f"{where}: not a dependency")
            elif room not in THIRD_PARTY[top]:
                found.append(f"{where}: {top} is not for {room or 'the package root'}")
    return found


def imported(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Line and full module name of every import, wherever it stands, relative ones resolved."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: -node.level]
                base = ".".join([*parents, *([base] if base else [])])
            if base == PACKAGE:
                yield from ((node.lineno, _of_package(alias.name)) for alias in node.names)
            else:
                yield node.lineno, base
        elif isinstance(node, ast.Call) and _is_dynamic_import(node):
            argument = node.args[0] if node.args else None
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield node.lineno, argument.value


def room_of(module: str) -> str:
    """The room a module belongs to; `python -m` is the shell, the package itself is the empty room."""
    parts = module.split(".")
    room = parts[1] if len(parts) > 1 else ""
    return "cli" if room == "__main__" else room


def modules(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every Python file of the package with its module name."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        yield path, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _of_package(name: str) -> str:
    return f"{PACKAGE}.{name}" if name in RANKS else PACKAGE


def _is_dynamic_import(node: ast.Call) -> bool:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")
