"""Names of files that sites give: nothing in them steers where a file is saved or what a person takes it for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.support.file_names import MOST_CHARS, safe_file_name


@pytest.mark.parametrize(
    ("given_name", "safe"),
    [
        ("Invoice 2026-11.pdf", "Invoice 2026-11.pdf"),
        ("Rechnung für Ådne.pdf", "Rechnung für Ådne.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Windows\\win.ini", "win.ini"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\r\nSet-Cookie: x.txt", "aSet-Cookie_ x.txt"),
        ('<img src=x onerror="1">.csv', "_img src=x onerror=_1__.csv"),
        ("..", ""),
        (" . ", ""),
        ("", ""),
    ],
)
def test_a_name_is_made_safe(given_name: str, safe: str) -> None:
    assert safe_file_name(given_name) == safe


def test_a_long_name_keeps_its_ending() -> None:
    name = safe_file_name(f"{'n' * 300}.pdf")
    assert len(name) == MOST_CHARS and name.endswith("n.pdf")
    assert len(safe_file_name("n" * 300)) == MOST_CHARS
    assert len(safe_file_name(f"n.{'e' * 300}")) == MOST_CHARS


@given(st.text(max_size=400))
def test_no_name_leaves_its_folder_or_hides_a_mark(text: str) -> None:
    name = safe_file_name(text)
    assert len(name) <= MOST_CHARS and not set("/\\<>:\"|?*'") & set(name)
    assert not name.startswith((".", " ")) and not any(unicodedata.category(char)[0] == "C" for char in name)
