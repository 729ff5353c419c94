"""Words of unspaced scripts that a text lacks are named as runs of the question, never as pieces that are no words."""

from __future__ import annotations

import pytest

from keyhole.passages import select
from keyhole.passages.gram_runs import join_grams

PAGES = {
    "ja": "設定ファイルの読み込み順序について説明します。新しい設定は再起動後に有効になります。XMLデータの仕様です。",
    "zh": "系统会自动保存备份文件，默认保存三十天。数据库连接需要密码。",
    "th": "ระบบจะสำรองข้อมูลอัตโนมัติทุกวัน ไฟล์PDFจะถูกเก็บไว้สามสิบวัน ฐานข้อมูล",
    "ko": "시스템은 자동으로 백업합니다. XML파일을 읽는 방법. 값을 바꿉니다.",
}
FILLER = "Nothing of the question stands in these words at all. " * 40


def absent(page: str, query: str, rest: str = "") -> list[str]:
    main = f"{PAGES[page]}\n\n{FILLER}"
    selection = select(main + rest, query, 1_500, main_end=len(main) if rest else None)
    return [term.term for term in selection.terms if not term.count]


@pytest.mark.parametrize(
    ("page", "query", "expected"),
    [
        ("ja", "メソッド決定の優先順位", ["メソッド決定", "優先順位"]),
        ("ja", "ウィンドウズの設定ファイル", ["ウィンドウズ"]),
        ("ja", "設定を変換したい", ["変換"]),
        ("ja", "データベースのデータ移行", ["データベース", "移行"]),
        ("ja", "XMLデータの圧縮", ["圧縮"]),
        ("zh", "备份文件恢复的步骤", ["恢复", "步骤"]),
        ("zh", "备复系统", ["备复"]),
        ("zh", "XML备份文件", ["xml"]),
        ("th", "รหัสผ่าน PDF", ["รหัสผ่าน"]),
        ("th", "ค่าใช้จ่ายของไฟล์", ["ค่าใช้จ่าย"]),
        ("ko", "XML 파일 압축", ["압축"]),
        ("ko", "값 대한민국", ["대한민국"]),
    ],
)
def test_absent_words_are_named_whole(page: str, query: str, expected: list[str]) -> None:
    assert absent(page, query) == expected


def test_a_run_that_only_the_rest_has_is_not_absent() -> None:
    assert absent("zh", "备份恢复路径", rest="页脚：恢复") == ["路径"]


def test_a_run_has_the_greatest_state_of_the_pairs_around_each_character() -> None:
    grams = {"日本": 2, "本新": 0, "新聞": 0, "聞社": 1}
    assert list(join_grams(grams, "日本新聞社")) == [("日本", 2), ("聞社", 1)]
