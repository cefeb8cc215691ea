"""Trace files: the known answers of the shared ones, and one clear line for a broken one."""

import json
import os

import numpy as np
import pytest

from pdexplorer.workload.prefix import leading_hits
from pdexplorer.workload.traces import read_trace
from tests.shared_data import shared_path

SHARED = {
    # rows, last arrival, mean input, mean output
    "azure_2023_code.csv": (8819, 3435.948, 2047.848, 27.883),
    "azure_2023_conv.csv": (19366, 3501.722, 1154.697, 211.126),
    "mooncake_conversation_first.jsonl": (7933, 2418.0, 12425.121, 347.412),
    "burstgpt_1_first42.csv": (38, 4569.0, 754.763, 354.447),
}
MOONCAKE = [
    {"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [1, 2, 3]},
    {"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [1, 2, 4]},
    {"timestamp": 3000, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]},
    {"timestamp": 3000, "input_length": 600, "output_length": 5, "hash_ids": [9, 2]},
]
AZURE_HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
BURST_HEAD = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"


def write(tmp_path, content, name="trace"):
    path = tmp_path / name
    path.write_bytes(content.encode())
    return path


def mooncake(tmp_path):
    return write(tmp_path, "\n".join(json.dumps(row) for row in MOONCAKE))


@pytest.mark.parametrize("name", SHARED)
def test_shared_traces(name):
    rows, last_s, mean_input, mean_output = SHARED[name]
    requests = read_trace(shared_path(f"traces/{name}"))
    assert len(requests) == rows
    assert requests.arrival_s[0] == pytest.approx(0.0, abs=3.0)
    assert requests.arrival_s[-1] == pytest.approx(last_s, abs=3.0)
    assert requests.input_tokens.mean() == pytest.approx(mean_input, abs=1e-3)
    assert requests.output_tokens.mean() == pytest.approx(mean_output, abs=1e-3)
    assert (np.diff(requests.arrival_s) >= 0).all()


@pytest.mark.parametrize(
    ("name", "share"), [("mooncake_conversation_first.jsonl", 0.350), ("mooncake_synthetic.jsonl", 0.640)]
)
def test_share_of_blocks_an_infinite_cache_hits(name, share):
    hashes = read_trace(shared_path(f"traces/{name}")).block_hashes
    assert sum(leading_hits(hashes)) / sum(map(len, hashes)) == pytest.approx(share, abs=5e-4)


def test_mooncake_hits_and_spread_ticks(tmp_path):
    requests = read_trace(mooncake(tmp_path))
    assert requests.cached_tokens.tolist() == [0, 1024, 1023, 0]
    assert ((requests.arrival_s // 3.0) == [0, 0, 1, 1]).all()
    assert (np.diff(requests.arrival_s) > 0).all()
    again, other = read_trace(mooncake(tmp_path)), read_trace(mooncake(tmp_path), seed=5)
    assert requests.arrival_s.tolist() == again.arrival_s.tolist() != other.arrival_s.tolist()


def test_a_conversation_tick_is_spread_over_its_three_seconds():
    requests = read_trace(shared_path("traces/mooncake_conversation_first.jsonl"))
    within = requests.arrival_s % 3.0
    assert np.histogram(within, 3, (0, 3))[0] / len(requests) == pytest.approx([1 / 3] * 3, abs=0.02)


def test_a_window_keeps_the_cache_that_came_before(tmp_path):
    requests = read_trace(mooncake(tmp_path), window_s=(3.0, 6.0))
    assert len(requests) == 2
    assert requests.cached_tokens.tolist() == [1023, 0]
    assert 0 <= requests.arrival_s[0] < 3.0


def test_burstgpt_failures_are_dropped_and_counted(tmp_path):
    rows = "5,-1,3,GPT-4,472,18,490,Conversation log\n9,-1,3,GPT-4,0,0,0,Conversation log\n"
    requests = read_trace(write(tmp_path, BURST_HEAD + rows))
    assert requests.dropped_rows == 1
    assert requests.output_tokens.tolist() == [18]


def test_vidur_lengths(tmp_path):
    requests = read_trace(write(tmp_path, "num_prefill_tokens,num_decode_tokens,pd_ratio\n3772,54,69.8\n"))
    assert not requests.timed
    assert requests.input_tokens.tolist() == [3772]


def test_azure_keeps_100_ns_and_crosses_midnight(tmp_path):
    rows = "2023-11-16 23:59:59.9999999,3,1\r\n2023-11-17 00:00:00.0000001+00:00,4,1"
    requests = read_trace(write(tmp_path, AZURE_HEAD + rows))
    assert requests.arrival_s[1] == pytest.approx(2e-7, abs=1e-9)


BROKEN = {
    "column": (
        AZURE_HEAD + "2023-11-16 18:00:00.1,12,x\r\n",
        r"row 2, column GeneratedTokens = 'x'",
    ),
    "time": (AZURE_HEAD + "2023-11-16 18:00:00.1,12,1\r\nnoon,12,1\r\n", r"row 3, column TIMESTAMP = 'noon'"),
    "short": (AZURE_HEAD + "2023-11-16 18:00:00.1,12\r\n", r"row 2, column \(whole row\).*3 columns"),
    "zero": (
        AZURE_HEAD + "2023-11-16 18:00:00.1,0,1\r\n",
        r"ContextTokens = '0'; allowed: a whole number",
    ),
    "nan": (BURST_HEAD + "nan,1,1,m,4,4,8,l\n", r"row 2, column Timestamp = 'nan'"),
    "half": ("num_prefill_tokens,num_decode_tokens\n1.5,1\n", r"num_prefill_tokens = '1.5'"),
    "json": ('{"timestamp": 0, "input_length": 5\n', r"row 1, column \(whole row\).*one JSON object a line"),
    "missing": ('{"timestamp": 0, "input_length": 5}\n', r"row 1, column output_length = None"),
    "negative": (
        '{"timestamp": -1, "input_length": 5, "output_length": 1, "hash_ids": []}\n',
        r"row 1, column timestamp = -1; allowed",
    ),
    "hashes": (
        '{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": "abc"}\n',
        r"column hash_ids = 'abc'; allowed: a list of whole numbers",
    ),
    "long cell": (AZURE_HEAD + "2023-11-16 18:00:00.1,12," + "1" * 200_000, r"row 2: not readable as CSV"),
    "long header": ("TIMESTAMP," + "a" * 200_000, r"row 1: not readable as CSV"),
    "underscore": (AZURE_HEAD + "2023-11-16 18:00:00.1,1_0,1\n", r"ContextTokens = '1_0'"),
    "other digits": (AZURE_HEAD + "2023-11-16 18:00:00.1,\u0663,1\n", r"ContextTokens = "),
    "other digits in a time": (AZURE_HEAD + "2023-11-16 1\u0668:00:00.1,3,1\n", r"TIMESTAMP = "),
    "thousands of digits": ('{"timestamp": ' + "9" * 5000 + "}", r"row 1, .*one JSON object a line"),
    "unknown": ("a,b,c\n1,2,3\n", r"no known format; allowed: Azure CSV"),
    "empty": ("", "the file is empty"),
    "header only": (AZURE_HEAD, "no request in it"),
    "binary": ("\udcff", "not text in UTF-8"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_give_one_clear_line(case, tmp_path):
    content, message = BROKEN[case]
    path = tmp_path / "broken"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message) as error:
        read_trace(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_missing_and_too_large_files(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        read_trace(tmp_path / "absent")
    with pytest.raises(ValueError, match="is a folder"):
        read_trace(tmp_path)
    with pytest.raises(ValueError, match="is a device or a pipe"):
        read_trace("/dev/zero")
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 1_000_000_000)  # sparse: takes no room
    with pytest.raises(ValueError, match="1000 MB; allowed: at most 200 MB"):
        read_trace(path)


def test_windows_that_make_no_sense(tmp_path):
    path = mooncake(tmp_path)
    with pytest.raises(ValueError, match="must be START:END"):
        read_trace(path, window_s=(5.0, 5.0))
    with pytest.raises(ValueError, match="holds no request"):
        read_trace(path, window_s=(100.0, 200.0))
    lengths = write(tmp_path, "num_prefill_tokens,num_decode_tokens\n5,6\n", "lengths")
    with pytest.raises(ValueError, match="needs arrival times"):
        read_trace(lengths, window_s=(0.0, 1.0))
