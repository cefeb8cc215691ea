"""Which KV entries a model keeps, and which of them one query reads: sums over its layers."""

from dataclasses import dataclass

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.physics.parameters import indexed_layers, latent_width

_STATE_BYTES = 4.0
"""Compressors keep their open group in float32 (vLLM and SGLang by default)."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Entries one query reads: `full` per token of context, `capped` per token up to cap_tokens, `local`
    whatever the context. An entry is one token's KV in one layer, or that of several where compressed.
    """

    full: float
    capped: float
    cap_tokens: int | None
    local: float


def reach(architecture: Architecture) -> Reach:
    """What attention reads: sparse layers up to their top-k, windowed ones up to their window.

    Beside compressed entries every layer reads a window of single tokens. It is counted as always full,
    since a step has one cap on context: too much only for contexts shorter than the window.
    """
    a = architecture
    windowed, local = windowed_layers(a), local_entries(a)
    if a.index_top_k_tokens:
        return Reach(_heavy(a), _light(a) + windowed, a.index_top_k_tokens, local)
    return Reach(_light(a) + _heavy(a), windowed, a.window_tokens if windowed else None, local)


def kept_entries(architecture: Architecture) -> float:
    """Entries one token adds for good: one a full layer, or its share of compressed ones."""
    return _light(architecture) + _heavy(architecture)


def windowed_layers(architecture: Architecture) -> int:
    """Layers that keep single tokens up to their window; those beside compressed entries are local ones."""
    return 0 if architecture.compressed else architecture.window_layers


def local_entries(architecture: Architecture) -> float:
    """Entries of the windows that a model of compressed entries keeps in every layer."""
    a = architecture
    return (a.full_layers + a.window_layers) * float(a.window_tokens or 0) if a.compressed else 0.0


def index_keys(architecture: Architecture) -> float:
    """Keys that one token adds to the sparse-attention indexers of all layers."""
    return indexed_layers(architecture) / architecture.compress_ratio


def compressor_state_bytes(architecture: Architecture) -> float:
    """Bytes of one sequence's open groups: a value and a gate for each token that its next entries pool.

    Groups of compress_ratio overlap: each entry pools two of them, in rows twice as wide.
    """
    a = architecture
    numbers = 0.0
    if a.heavy_compress_ratio > 1:
        numbers += a.heavy_compress_ratio * 2.0 * a.heavy_layers * latent_width(a)
    if a.compress_ratio > 1:
        width = (a.full_layers - a.heavy_layers) * latent_width(a) + indexed_layers(a) * a.index_dim
        numbers += 2.0 * a.compress_ratio * 2.0 * 2.0 * width
    return numbers * _STATE_BYTES


def _light(a: Architecture) -> float:
    return (a.full_layers - a.heavy_layers) / a.compress_ratio


def _heavy(a: Architecture) -> float:
    return a.heavy_layers / a.heavy_compress_ratio
