from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate
from pdexplorer.ui.tabs.candidates import candidate_frame, design_settings, design_text

SCENARIO = load_presets()["rag_h100"].scenario


def test_each_fleets_chosen_design_stands_first_and_fixing_it_changes_nothing():
    found = evaluate(SCENARIO, with_break_even=False)
    candidates = found.to_json()["candidates"]
    frame = candidate_frame(candidates)
    assert len(frame) == len(candidates)
    first = candidates[int(frame.index[0])]
    assert first["chosen"]
    wanted = design_settings(first["fleet"], first["design"])
    assert {"colocated.tp", "colocated.accelerator"} <= set(wanted)
    fixed, refused = apply_settings(SCENARIO, wanted)
    assert not refused
    again = evaluate(fixed, with_break_even=False)
    assert again.colocated.gpus == found.colocated.gpus


def test_a_design_is_told_by_what_makes_it_differ():
    split = {"prefill": "h100_sxm", "prefill_tp": 2, "prefill_pp": 1, "decode": "h20_96", "decode_tp": 8}
    assert design_text(split, {"h20_96": "H20"}) == "Prefill h100_sxm TP2, Decode H20 TP8"
    one = {"accelerator": "h100_sxm", "tp": 4, "pp": 2, "ep": 1, "attention_dp": 4, "chunk_tokens": 512}
    assert design_text(one, {}) == "h100_sxm TP4 PP2 DP4, chunks of 512"


def test_both_pools_of_a_split_design_are_set():
    design = {"prefill": "h100_sxm", "prefill_tp": 2, "decode": "h20_96", "decode_tp": 8, "link": "roce_400"}
    assert design_settings("disaggregated", design) == {
        "prefill.accelerator": "h100_sxm",
        "prefill.tp": "2",
        "decode.accelerator": "h20_96",
        "decode.tp": "8",
    }
