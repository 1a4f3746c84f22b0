"""A mail server for tests, and the letters that it was given."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from shoal.services.webhooks.mail import MailServer


@dataclass
class Letters:
    """The letters of a mail server that takes all of them, but for the address that it does not know."""

    got: list[EmailMessage] = field(default_factory=list)
    to: list[str] = field(default_factory=list)

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if address.startswith("unknown@"):
            return "550 no such person"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        letter = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.got.append(letter)
        self.to += envelope.rcpt_tos
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[tuple[Letters, MailServer]]:
    letters = Letters()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(letters, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield letters, MailServer.parse(f"smtp://127.0.0.1:{port}", "Shoal <shoal@example.com>")
    finally:
        controller.stop()
