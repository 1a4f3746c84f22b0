"""Letters through the operator's mail server."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from urllib.parse import unquote, urlsplit

from shoal.services.errors import BadSetting
from shoal.services.webhooks.retry import DeliveryAnswer

_TIMEOUT_S = 15.0
_PORTS = {"smtp": 25, "smtps": 465}
_LASTING = 500
"""SMTP replies from here on say that another attempt would end the same."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """The server that letters are handed in at."""

    host: str
    port: int
    tls: bool  # from the first byte; else it begins where the server offers it
    user: str
    password: str = field(repr=False)
    sender: str  # the address that letters come from

    @classmethod
    def parse(cls, url: str, sender: str) -> MailServer:
        """The server at `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…`.

        Raises:
            BadSetting: it is no such address, or nothing says whom letters are from.
        """
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError as error:
            raise BadSetting(f"SHOAL_SMTP_URL: {error}") from error
        if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/"):
            raise BadSetting("SHOAL_SMTP_URL is no smtp://USER:PASSWORD@HOST:PORT or smtps://… address")
        if "@" not in parseaddr(sender)[1]:
            raise BadSetting("SHOAL_MAIL_FROM says no address, and letters need one that they are from")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        port = port or _PORTS[parts.scheme]
        return cls(parts.hostname, port, parts.scheme == "smtps", user, password, sender)

    async def send(self, to: Sequence[str], subject: str, text: str, name: str) -> DeliveryAnswer:
        """Hands in a letter; `name` is its id, by which receivers know a second copy."""
        letter = EmailMessage()
        letter["From"], letter["To"], letter["Subject"] = self.sender, ", ".join(to), subject
        letter["Date"] = formatdate()
        letter["Message-ID"] = f"<{name}@{parseaddr(self.sender)[1].rpartition('@')[2]}>"
        letter["Auto-Submitted"] = "auto-generated"
        letter.set_content(text)
        return await asyncio.to_thread(self._send, letter)

    def _send(self, letter: EmailMessage) -> DeliveryAnswer:
        context = ssl.create_default_context()
        try:
            with self._connected(context) as server:
                encrypted = self.tls
                if not self.tls and server.has_extn("starttls"):
                    server.starttls(context=context)
                    server.ehlo()
                    encrypted = True
                if self.user and not encrypted:
                    return DeliveryAnswer(error=f"{self.host} offers no STARTTLS: no password goes there in the open")
                if self.user:
                    server.login(self.user, self.password)
                missed = server.send_message(letter)
        except smtplib.SMTPAuthenticationError as error:
            # The operator's to mend: the letter is not at fault, and is handed in again later.
            return DeliveryAnswer(error.smtp_code, error=f"{self.host} refuses the user of SHOAL_SMTP_URL")
        except smtplib.SMTPRecipientsRefused as error:
            code, words = next(iter(error.recipients.values()))
            return _refusal(code, words)
        except smtplib.SMTPResponseException as error:
            return _refusal(error.smtp_code, error.smtp_error)
        except (OSError, smtplib.SMTPException) as error:
            return DeliveryAnswer(error=f"{self.host}: {type(error).__name__}: {error}")
        if missed:  # the letter is not repeated: others have it
            refusals = (f"{address}: {_refusal(code, words).error}" for address, (code, words) in missed.items())
            return DeliveryAnswer(error=f"the others have it; {'; '.join(refusals)}", refused=True)
        return DeliveryAnswer()

    def _connected(self, context: ssl.SSLContext) -> smtplib.SMTP:
        if self.tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=_TIMEOUT_S, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=_TIMEOUT_S)
        server.ehlo()
        return server


def _refusal(code: int, words: bytes | str) -> DeliveryAnswer:
    text = words.decode(errors="replace") if isinstance(words, bytes) else words
    return DeliveryAnswer(code, error=f"SMTP {code}: {' '.join(text.split())}", refused=code >= _LASTING)
