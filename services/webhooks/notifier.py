"""Hands notices to people: letters through a mail server, messages in chats by their incoming webhooks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from shoal.services.secrets.folder import Unbound, stored_address
from shoal.services.store.ids import delivery_id
from shoal.services.store.records import DeliveryRow
from shoal.services.webhooks.mail import MailServer
from shoal.services.webhooks.notice_text import chat_body, notice_text
from shoal.services.webhooks.retry import DeliveryAnswer
from shoal.services.webhooks.sender import Sender


@dataclass(frozen=True, slots=True)
class Notifier:
    """The services that notices need."""

    sender: Sender  # holds the operator's rules for addresses
    mail: MailServer | None = None  # None: none is configured
    secrets_dir: Path | None = None  # of all tenants
    public_url: str = ""  # of the dashboard

    async def send(self, row: DeliveryRow) -> DeliveryAnswer:
        """Sends one notice, and says how that went."""
        notice = notice_text(json.loads(row.body), self.public_url)
        name = delivery_id(row.id)
        if row.channel == "email":
            if self.mail is None:
                return DeliveryAnswer(error="no mail server is configured (SHOAL_SMTP_URL)", refused=True)
            to = [address.strip() for address in row.url.split(",") if address.strip()]
            return await self.mail.send(to, notice.subject, notice.text, name)
        try:
            url = await asyncio.to_thread(self._address, row)
        except Unbound as error:
            return DeliveryAnswer(error=str(error), refused=True)
        body = json.dumps(chat_body(row.channel, notice)).encode()
        return await self.sender.send(url, body, {}, tenant=row.tenant)

    def _address(self, row: DeliveryRow) -> str:
        kind, _, name = row.url.partition(":")
        if kind != "secret":
            return row.url
        if self.secrets_dir is None:
            raise Unbound("no folder of secrets is configured (SHOAL_SECRETS_DIR)")
        return stored_address(self.secrets_dir / row.tenant, name)
