"""A model's architecture from its Hugging Face config.json."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.hf_attention import attention_fields
from pdexplorer.catalog.hf_experts import mlp_fields
from pdexplorer.catalog.hf_fields import count, needed, text_config
from pdexplorer.catalog.hf_quantization import kv_format_of, weight_format_of

__all__ = ["kv_format_of", "read_hf_config", "weight_format_of"]


_MOST_LAYERS = 10_000


def read_hf_config(config: Mapping[str, Any], name: str = "custom") -> Architecture:
    """What a config.json says a model is made of; multimodal configs give their language model.

    Missing keys take the defaults of the model's class where this package knows them. ValueError in one line
    where the file holds no architecture (a hf_quant_config.json), a needed key is missing, or the family is
    not modelled.
    """
    if not isinstance(config, Mapping):
        raise ValueError(f"config.json: must hold an object, not {type(config).__name__}")
    text = text_config(config)
    layers = count(text, "num_hidden_layers", "n_layer", "n_layers", "num_layers", low=1)
    if layers is None:
        what = (
            "a hf_quant_config.json; its config.json is another file"
            if "quantization" in config
            else "no layers"
        )
        raise ValueError(f"config.json: holds no architecture ({what})")
    if layers > _MOST_LAYERS:  # each is a row of a list below
        raise ValueError(f"config.json: num_hidden_layers = {layers:g} must be at most {_MOST_LAYERS:,}")
    try:
        fields = attention_fields(text, layers) | mlp_fields(text, layers)
        return Architecture(
            name=name,
            layers=layers,
            hidden_size=needed(text, "hidden_size", "n_embd", "d_model"),
            vocab_size=needed(text, "vocab_size"),
            tie_embeddings=bool(text.get("tie_word_embeddings", False)),
            native_weight_format=weight_format_of(config),
            max_context_tokens=count(
                text, "max_position_embeddings", "n_positions", "seq_length", "max_sequence_length"
            ),
            **fields,
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "config"
        raise ValueError(f"config.json: {where}: {first['msg'].removeprefix('Value error, ')}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"config.json: a nested block is not as its family writes it ({error!r})") from error
