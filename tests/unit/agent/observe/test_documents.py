"""The text of downloaded files."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import pytest

from shoal.agent.chromium.acting.downloads import safe_name
from shoal.agent.observe import documents
from shoal.agent.observe.documents import file_text


def small_pdf(text: str) -> bytes:
    """A PDF of one page that says `text`."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return body + b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(body),
    )


async def test_a_hostile_pdf_writes_no_more_than_a_line_into_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "hostile.pdf"
    broken = b"".join(b"%d 0 obj\n<< /Type /Page /Kids [ 1 0 R\n" % n for n in range(5, 400))
    file.write_bytes(small_pdf("x").replace(b"xref\n0 5", broken + b"xref\n9 9").replace(b"/Kids [3 0 R]", b"/Kids 7"))
    with caplog.at_level(logging.DEBUG):
        await file_text(file)
    told = [record.getMessage() for record in caplog.records if record.name != "asyncio"]  # that is of other processes
    assert len(told) <= 1
    assert all(len(line) < 500 and "\n" not in line for line in told)


async def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    file = tmp_path / "invoice"
    file.write_bytes(small_pdf("Total 12.50 EUR"))
    assert await file_text(file) == "[page 1]\nTotal 12.50 EUR"


async def test_a_pdf_that_takes_for_ever_is_given_up_and_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PDF_S", 3.0)
    file = tmp_path / "endless.pdf"
    file.write_bytes(small_pdf("x) Tj (" * 4_000_000))
    longest = asyncio.create_task(longest_pause())
    began = time.monotonic()
    assert await file_text(file) == ""
    assert time.monotonic() - began < 30
    longest.cancel()
    with pytest.raises(asyncio.CancelledError) as ended:
        await longest
    assert float(str(ended.value)) < 0.5


async def longest_pause() -> None:
    """Watches the event loop until it is canceled, and tells then for how many seconds it stood still at most."""
    longest, at = 0.0, time.monotonic()
    try:
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            longest, at = max(longest, now - at - 0.01), now
    except asyncio.CancelledError:
        raise asyncio.CancelledError(str(longest)) from None


async def test_what_was_read_before_the_time_was_over_is_told_as_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(*_: object, **__: object) -> bytes:
        return b'"first"\n"second"\n"thi'

    monkeypatch.setattr(documents, "run_module", cut)
    file = tmp_path / "long.pdf"
    file.write_bytes(small_pdf("x"))
    read = await file_text(file)
    assert read == "[page 1]\nfirst\n[page 2]\nsecond\n[not read further: reading it takes too long]"


async def test_a_broken_pdf_has_no_text_but_breaks_nothing(tmp_path: Path) -> None:
    file = tmp_path / "broken.pdf"
    file.write_bytes(b"%PDF-1.4\nnothing of use")
    assert await file_text(file) == ""


async def test_plain_text_is_clipped_and_other_files_have_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" * 10)
    assert await file_text(tmp_path / "a.csv", max_chars=7) == "x,y\nx,y"
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04")
    assert await file_text(tmp_path / "a.zip") == ""


@pytest.mark.parametrize(
    ("suggested", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\evil.exe", "evil.exe"),
        ("a/b:c?.txt", "b_c_.txt"),
        ("", "download"),
        ("...", "download"),
        ("x" * 300 + ".csv", "x" * 109 + ".csv"),
    ],
)
def test_file_names_of_sites_are_made_safe(suggested: str, safe: str) -> None:
    assert safe_name(suggested) == safe
