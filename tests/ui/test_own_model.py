import json

import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.ui.own_model import config_settings

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}


def test_a_pasted_config_becomes_the_scenarios_model():
    scenario, refused = apply_settings(Scenario(), config_settings(json.dumps(LLAMA)))
    assert not refused
    own = scenario.model.architecture
    assert own is not None
    assert (own.layers, own.kv_heads, own.head_dim) == (32, 8, 128)
    assert scenario.model.weight_format == "bf16"


@pytest.mark.parametrize("pasted", ["", "{", "[]", "3", '{"model_type": "llama"}', "[" * 100_000])
def test_what_is_no_config_is_refused_in_one_line(pasted):
    with pytest.raises(ValueError, match=r"config\.json") as error:
        config_settings(pasted)
    assert "\n" not in str(error.value)
