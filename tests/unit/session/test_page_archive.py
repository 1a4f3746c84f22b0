"""An archive of a page is kept without secrets, however the archive encodes them."""

from __future__ import annotations

import base64
import quopri
from email import message_from_bytes

from shoal.agent.sessions.traces.page_archive import redacted_archive

SECRET, STAND_IN = "correct horse battery staple", "${secrets.pw}"
PICTURE = base64.encodebytes(bytes(range(256))).decode().replace("\n", "\r\n")
TEXT = f"<p>é{'x' * 50} {SECRET}, and so on"
LONG = f"http://127.0.0.1/shown;a,b?{'q' * 300}"


def hide(text: str) -> str:
    return text.replace(SECRET, STAND_IN)


def part(kind: str, encoding: str, body: str, location: str = LONG) -> str:
    head = f"Content-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\nContent-Location: {location}\r\n\r\n"
    return f"--B\r\n{head}{body}\r\n"


def archive(*parts: str, subject: str = "A page") -> str:
    head = f'Subject: {subject}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="B"\r\n\r\n'
    return f"{head}\r\n{''.join(parts)}--B--\r\n"


def encoded(text: str) -> str:
    return quopri.encodestring(text.encode()).decode().replace("\n", "\r\n")


def test_a_secret_that_the_encoding_cuts_in_two_is_hidden() -> None:
    body = encoded(TEXT)
    assert SECRET not in body, "a line of the encoding ends within it"
    drawing = base64.b64encode(f"<svg><text>{SECRET}</text></svg>".encode()).decode()
    told = redacted_archive(
        archive(part("text/html", "quoted-printable", body), part("image/svg+xml", "base64", drawing)), hide
    )
    page, svg = message_from_bytes(told).get_payload()
    assert page.get_payload(decode=True).decode().rstrip() == hide(TEXT)
    assert svg.get_payload(decode=True).decode().rstrip() == hide(f"<svg><text>{SECRET}</text></svg>")
    assert page["Content-Location"] == LONG


def test_a_secret_in_the_title_and_in_an_address_is_hidden() -> None:
    subject = f"=?utf-8?Q?=C3=A9_{SECRET.replace(' ', '_')}?="
    told = message_from_bytes(
        redacted_archive(archive(part("image/png", "base64", PICTURE, f"http://h/?{SECRET}"), subject=subject), hide)
    )
    (picture,) = told.get_payload()
    assert SECRET not in str(told) and STAND_IN.replace("$", "") not in SECRET
    assert picture["Content-Location"] == f"http://h/?{STAND_IN}"
    assert picture.get_payload(decode=True) == bytes(range(256))


def test_an_archive_without_a_secret_stays_byte_for_byte() -> None:
    whole = archive(
        part("text/html", "quoted-printable", encoded("<p>Grüße, From me\nFrom you")),
        part("image/png", "base64", PICTURE),
    )
    assert redacted_archive(whole, hide) == whole.encode()
