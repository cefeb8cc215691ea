"""What is exported is told in the language asked for, values and sources apart."""

import re

import pytest

from pdexplorer.cli.main import main
from pdexplorer.export.images import chart_spec
from pdexplorer.export.live import LiveAnswers
from pdexplorer.export.memo import memo_text
from pdexplorer.export.page import page_html
from pdexplorer.export.report import report_of
from pdexplorer.export.share import share_items, summary_text

CHINESE = re.compile("[\u4e00-\u9fff]")
ROOT = "http://127.0.0.1:8501/"


def untranslated(text):
    """Lines of words, not of values, commands, ids or sources, without a Chinese character."""
    told, _, _ = text.partition("## 来源")
    told = re.sub(r"```sh.*?```", "", told, flags=re.S)
    return [
        line
        for line in told.splitlines()
        if re.search("[a-z]{3,} [a-z]{3,}", line) and not CHINESE.search(line)
    ]


def test_a_memo_in_chinese_has_no_english_sentence_left(chinese):
    text = memo_text(chinese)
    assert untranslated(text) == []
    assert "此比较不公平" in text
    assert len(re.findall("^## ", text, re.M)) == len(
        re.findall(
            "^## ",
            memo_text(report_of(chinese.scenario, chinese.preset, evaluation=chinese.evaluation)),
            re.M,
        )
    )


def test_the_page_says_which_language_it_is_in(chinese, drawer):
    html = page_html(chinese, drawer)
    assert '<html lang="zh-Hans">' in html
    said = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<pre>.*?</pre>", "", html, flags=re.S)
    assert "Because" not in said
    assert "翻转条件" in said


def test_charts_and_summary_follow(chinese):
    spec = str(chart_spec(chinese, "map")) + str(chart_spec(chinese, "cost"))
    assert "盈亏图" in spec
    assert "you are here" not in spec
    assert untranslated(summary_text(chinese)) == []


def test_a_scenario_without_an_answer_is_told_in_chinese_too(presets):
    text = memo_text(report_of(presets["ascend_910b"].scenario, presets["ascend_910b"], language="zh"))
    assert untranslated(text) == []
    assert "没有公开数据" in text


def test_live_addresses_take_the_language_of_the_link(presets):
    live, query = LiveAnswers(), "preset=short_chat_h100&slo.ttft_s=-1"
    english, chinese = (live.memo(f"{query}{more}", presets, ROOT).body.decode() for more in ("", "&lang=zh"))
    assert "> Note: not used: slo.ttft_s = -1" in english
    assert "> 注意：未采用：slo.ttft" in chinese.replace("\\", "")
    assert "chart.svg?view=map&lang=zh" in chinese
    assert "&lang=zh>" in chinese
    other = live.memo(f"{query}&lang=xx", presets, ROOT).body.decode()
    said = "> Note: not used: lang = xx: allowed is one of en, zh\n\n"
    assert said in other
    assert other.replace(said, "") == english


def test_the_share_dialog_hands_out_its_own_language(chinese, preset, presets):
    items = share_items(chinese.scenario, preset, presets, ROOT, chinese.evaluation, "zh")
    assert "lang=zh" in items.memo_address
    assert CHINESE.search(items.markdown)


def test_the_shell_takes_a_language(tmp_path):
    out = tmp_path / "memo.md"
    assert main(["export", "short_chat_h100", "--lang", "zh", "--memo", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("# 预填充与解码分离划算吗？")


def test_a_language_there_is_not_is_one_line(preset, report):
    with pytest.raises(ValueError, match="allowed is one of en, zh"):
        report_of(preset.scenario, preset, evaluation=report.evaluation, language="de")
