"""`model import`: what a Hugging Face config.json says, and the same as a scenario file."""

import argparse
import json
from pathlib import Path
from textwrap import fill
from typing import Any

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.hf_config import kv_format_of, read_hf_config, weight_format_of
from pdexplorer.export.json_text import json_text
from pdexplorer.export.named_errors import naming
from pdexplorer.physics.instance import Parallelism
from pdexplorer.physics.memory import index_bytes_per_token, kv_bytes_per_token, sequence_bytes, weight_bytes
from pdexplorer.physics.parameters import parameter_count
from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.settings import shown
from pdexplorer.texts.catalogue import Texts
from pdexplorer.units import GB

_MOST_BYTES = 10_000_000
_KV_FORMATS = ("bf16", "fp8")


def import_model(arguments: argparse.Namespace) -> None:
    """Prints the model of arguments.config; arguments.out: also writes a scenario file with it.

    ValueError, one line: no JSON, no architecture, or a family that is not modelled.
    """
    path = Path(arguments.config)
    config = _read(arguments.config, path)
    try:
        architecture = read_hf_config(config, _name(config, path))
        stored, kv_format = weight_format_of(config), kv_format_of(config)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix('config.json: ')}") from None
    if arguments.out is not None:
        if not arguments.out.strip() or Path(arguments.out).is_dir():
            raise ValueError(f"--out {shown(arguments.out)}: allowed is a file")
        with naming(arguments.out):
            Path(arguments.out).write_text(
                scenario_toml(architecture, stored, kv_format, path.name), encoding="utf-8"
            )
    found = summary(architecture, stored, kv_format)
    if arguments.json:
        print(json_text(found))
        return
    _print_summary(architecture, found)
    if arguments.out is not None:
        print(f"\nwritten to {arguments.out}; pdexplorer evaluate {arguments.out} answers for it")


def summary(architecture: Architecture, stored: str, kv_format: str) -> dict[str, Any]:
    """What follows from the shapes: bytes of KV per token, parameters, bytes of weights on one GPU."""
    count = parameter_count(architecture)
    return {
        "architecture": architecture.model_dump(),
        "weight_format": stored,
        "kv_format": kv_format,
        "kv_bytes_per_token": {name: kv_bytes_per_token(architecture, name) for name in _KV_FORMATS},
        "index_bytes_per_token": index_bytes_per_token(architecture),
        "sequence_bytes": {name: sequence_bytes(architecture, name) for name in _KV_FORMATS},
        "parameters": {"total": count.total, "active": count.active_matmul},
        "weight_bytes": weight_bytes(architecture, stored, Parallelism(1)),
        "notes": [Texts().text("model.compressed")] if architecture.compressed else [],
    }


def scenario_toml(architecture: Architecture, stored: str, kv_format: str, source: str) -> str:
    """A scenario file with this model and nothing else. Every field is written: one left out would take
    the value of the model that scenarios start from."""
    formats = {"weight_format": stored, "kv_format": kv_format}
    lines = [
        f"title = {_toml(architecture.name)}",
        f"why = {_toml(f'Imported from {source}.')}",
        "",
        "[model]",
    ]
    lines += [f"{name} = {_toml(value)}" for name, value in formats.items()]
    lines += ["", "[model.architecture]"]
    for name, value in architecture.model_dump().items():
        if value is not None or keys()[f"model.architecture.{name}"].word:
            lines.append(f"{name} = {_toml('none' if value is None else value)}")
    return "\n".join(lines) + "\n"


def _read(argument: str, path: Path) -> Any:
    if not argument.strip():
        raise ValueError("CONFIG is empty: allowed is the path of a model's config.json")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder; its config.json is the file to give")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: is a device or a pipe, not a config.json")
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path}: {path.stat().st_size / 1e6:,.0f} MB; a config.json has at most 10 MB")
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not JSON (line {error.lineno}: {error.msg})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8 text, so not JSON") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: not JSON of sensible depth and numbers") from None


def _name(config: Any, path: Path) -> str:
    """As the file says, else the file's own name; what can stand on one line, no longer than a title."""
    given = config.get("_name_or_path") if isinstance(config, dict) else None
    stem = path.stem if path.stem != "config" else path.absolute().parent.name
    return shown(given if isinstance(given, str) and given.strip() else stem)


def _toml(value: object) -> str:
    """JSON's strings, numbers and flags are TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _print_summary(architecture: Architecture, found: dict[str, Any]) -> None:
    a = architecture
    layers = (
        (
            f"with {a.compress_ratio} tokens an entry" if a.compressed else "full",
            a.full_layers - a.heavy_layers,
        ),
        (f"with {a.heavy_compress_ratio} tokens an entry", a.heavy_layers),
        ("windowed", a.window_layers),
        ("linear", a.linear_layers),
    )
    kinds = ", ".join(f"{count} {name}" for name, count in layers if count)
    heads = f"{a.heads} heads, " + (
        f"{'MLA of rank' if a.mla_v_dim else 'one key and value of'} {a.mla_kv_rank} + {a.mla_rope_dim}"
        if a.attention == "mla"
        else f"{a.kv_heads} KV heads of {a.head_dim}"
    )
    total, active = (found["parameters"][name] / 1e9 for name in ("total", "active"))
    kv = found["kv_bytes_per_token"]
    rows = [
        ("layers", f"{a.layers} (attention: {kinds})"),
        ("width", f"{a.hidden_size:,}, {heads}"),
        (
            "experts",
            f"{a.experts_per_token} of {a.experts} in {a.moe_layers} layers" if a.experts else "dense",
        ),
        ("vocabulary", f"{a.vocab_size:,}{', tied' if a.tie_embeddings else ''}"),
        ("KV per token", ", ".join(f"{kv[name]:,.0f} bytes in {name}" for name in _KV_FORMATS)),
        ("parameters", f"{total:,.4g} billion, of which a token multiplies with {active:,.4g}"),
        ("weights", f"{found['weight_bytes'] / GB:,.4g} GB in {found['weight_format']}"),
    ]
    if index := found["index_bytes_per_token"]:
        rows.insert(5, ("index", f"{index:,.0f} bytes a token of indexer keys, on top of KV"))
    if a.compressed:
        of_each = ", ".join(f"{found['sequence_bytes'][name]:,.0f} bytes in {name}" for name in _KV_FORMATS)
        rows.insert(5, ("per sequence", f"{of_each} besides: windows, groups not pooled yet"))
        rows.insert(1, ("window", f"{a.window_tokens or 0:,} tokens in every layer, beside its entries"))
    elif a.window_layers:
        rows.insert(1, ("window", f"{a.window_tokens:,} tokens; windowed layers keep KV for no more"))
    print(f"{a.name}\n")
    for name, text in rows:
        print(f"{name:<14}{text}")
    for note in found["notes"]:
        print(f"\n{fill(note, 100)}")
