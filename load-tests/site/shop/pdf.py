"""Writes plain PDF files: lines of text on A4 pages, in Helvetica. No library is needed for that little."""

from __future__ import annotations

from collections.abc import Sequence

A4_POINTS = (595, 842)
MARGIN_POINTS = 56
LEADING_POINTS = 15
LINES_ON_A_PAGE = 48


def make_pdf(title: str, lines: Sequence[str]) -> bytes:
    """A PDF 1.4 file with the title on top of its first page and the lines below it, on as many pages as it takes.

    Lines are not wrapped. Letters outside Windows-1252 are written without their accents.
    """
    pages = [lines[start : start + LINES_ON_A_PAGE] for start in range(0, max(len(lines), 1), LINES_ON_A_PAGE)]
    first_page = 5
    kids = " ".join(f"{first_page + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (" + _text(title) + b") /Producer (Hallam & Rook) >>",
    ]
    for place, page in enumerate(pages):
        content = _content(title if place == 0 else "", page, f"{place + 1} / {len(pages)}")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {A4_POINTS[0]} {A4_POINTS[1]}] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {first_page + 2 * place + 1} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
    return _file(objects)


def _content(title: str, lines: Sequence[str], footer: str) -> bytes:
    top = A4_POINTS[1] - MARGIN_POINTS
    parts = [b"BT", f"/F1 18 Tf 1 0 0 1 {MARGIN_POINTS} {top} Tm".encode(), b"(" + _text(title) + b") Tj"]
    parts.append(f"/F1 10 Tf {LEADING_POINTS} TL 1 0 0 1 {MARGIN_POINTS} {top - 30} Tm".encode())
    for line in lines:
        parts += [b"(" + _text(line) + b") Tj", b"T*"]
    parts += [f"/F1 8 Tf 1 0 0 1 {A4_POINTS[0] // 2} 28 Tm ({footer}) Tj".encode(), b"ET"]
    return b"\n".join(parts)


def _text(text: str) -> bytes:
    # "č" and its like are not in the font's encoding; an empty box would be worse than the bare letter.
    plain = "".join(c if _fits(c) else {"č": "c", "ř": "r", "ě": "e", "Č": "C", "≤": "<="}.get(c, "?") for c in text)
    raw = plain.replace("\u00a0", " ").encode("cp1252")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _fits(letter: str) -> bool:
    try:
        letter.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def _file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n".encode() + b"0000000000 65535 f \n"
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)
