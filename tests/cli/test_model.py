"""`model import`: known sizes, every shared config, a scenario file that reads back, files that are none."""

import json
from pathlib import Path

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.hf_config import read_hf_config
from pdexplorer.scenario.presets import read_titled
from tests.cli.cases import Shell
from tests.shared_data import shared_path

TINY = {
    "_name_or_path": "ours/tiny",
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 100,
    "quantization_config": {"quant_method": "fp8"},
}
NOT_IMPORTED = {
    "Qwen--Qwen3-32B-FP8-Static-PerTensor.hf_quant_config": "holds no architecture",
}


def test_a_small_model_by_hand(shell: Shell, tmp_path: Path) -> None:
    file, out = tmp_path / "config.json", tmp_path / "mine.toml"
    file.write_text(json.dumps(TINY))
    status, text, _ = shell("model", "import", str(file), "--json", "--out", str(out))
    assert status == 0
    found = json.loads(text)
    # 4 layers, K and V, 2 heads of 16; projections 64 x (64 + 64 + 2 x 32), MLP 3 x 64 x 128, two tables
    assert found["kv_bytes_per_token"] == {"bf16": 512.0, "fp8": 256.0}
    body = 4 * (64 * 192 + 3 * 64 * 128)
    assert found["parameters"] == {"total": body + 2 * 6400, "active": body + 6400}
    assert found["weight_format"] == "fp8"
    assert found["weight_bytes"] == pytest.approx(body + 2 * 6400 * 2, rel=0.01)
    scenario, title, why = read_titled(out)
    assert scenario.model.architecture == read_hf_config(TINY, "ours/tiny")
    assert (scenario.model.weight_format, title, why) == ("fp8", "ours/tiny", "Imported from config.json.")
    assert "512 bytes in bf16, 256 bytes in fp8" in shell("model", "import", str(file))[1]


def test_every_shared_config_is_imported_or_says_why_not(shell: Shell, tmp_path: Path) -> None:
    files = sorted(shared_path("hf_config").glob("*.json"))
    assert len(files) > 20
    for file in files:
        out = tmp_path / "mine.toml"
        status, text, err = shell("model", "import", str(file), "--out", str(out))
        if why := NOT_IMPORTED.get(file.stem):
            assert (status, text) == (2, "")
            assert why in err
            assert file.name in err
            continue
        assert (status, err) == (0, ""), file.name
        assert "KV per token" in text
        config = json.loads(file.read_text(encoding="utf-8"))
        own = read_titled(out)[0].model.architecture
        assert own == read_hf_config(config, own.name if own else "")


def test_a_compressed_model_says_what_is_not_known(shell: Shell) -> None:
    file = shared_path("hf_config/deepseek-ai--DeepSeek-V4-Pro.json")
    status, text, _ = shell("model", "import", str(file))
    assert status == 0
    assert "30 with 4 tokens an entry, 31 with 128 tokens an entry" in text
    assert "7,928 bytes in bf16, 4,521 bytes in fp8" in text
    assert "Not measured here: its kernels" in " ".join(text.split())
    found = json.loads(shell("model", "import", str(file), "--json")[1])
    assert found["weight_format"] == "fp8_mxfp4"
    assert found["sequence_bytes"]["fp8"] == 23_270_400
    assert "Compressed attention" in found["notes"][0]
    plain = shared_path("hf_config/meta-llama--Meta-Llama-3.1-8B.json")
    found = json.loads(shell("model", "import", str(plain), "--json")[1])
    assert (found["notes"], found["sequence_bytes"]) == ([], {"bf16": 0.0, "fp8": 0.0})


def test_a_config_has_the_kv_of_the_catalogues_model(shell: Shell) -> None:
    file = shared_path("hf_config/meta-llama--Meta-Llama-3.1-8B.json")
    found = json.loads(shell("model", "import", str(file), "--json")[1])
    assert found["kv_bytes_per_token"]["bf16"] == 131_072
    published = load_catalog().models["llama_3_1_8b"].published_params
    assert found["parameters"]["total"] == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON (line 1"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5000, "not JSON"),
        ("[]", "must hold an object"),
        ("{}", "holds no architecture"),
        ('{"quantization": {}}', "hf_quant_config.json"),
        (json.dumps({**TINY, "quantization_config": {"quant_method": "x"}}), "quant_method"),
    ],
)
def test_files_without_an_architecture_say_so(shell: Shell, tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "some.json"
    file.write_text(content)
    status, out, err = shell("model", "import", str(file))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert "some.json" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("model",), "import"),
        (("model", "import", ""), "CONFIG is empty"),
        (("model", "import", "{folder}"), "is a folder"),
        (("model", "import", "{folder}/none.json"), "none.json: No such file"),
        (("model", "import", "/dev/zero"), "is a device"),
        (("model", "import", "{folder}/config.json", "--out", ""), "--out (empty)"),
        (("model", "import", "{folder}/config.json", "--out", "/dev/full"), "/dev/full: No space"),
        (("catalog", "fit"), "needs FILES"),
    ],
)
def test_bad_input_is_one_line(shell: Shell, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    status, out, err = shell(*(argument.format(folder=tmp_path) for argument in arguments))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
