"""A receiver of webhooks and of what sinks send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from shoal.services.cluster.serving import listening, served


@dataclass
class Receiver:
    """A receiver that answers as it is told, the last answer again and again."""

    url: str = ""
    answers: list[int] = field(default_factory=lambda: [204])
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    hold: asyncio.Semaphore | None = None  # each answer waits for a turn
    headers: Sequence[tuple[bytes, bytes]] = ()

    async def app(self, scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.got.append(({name.decode(): value.decode() for name, value in scope["headers"]}, body))
        if self.hold is not None:
            await self.hold.acquire()
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await send({"type": "http.response.start", "status": status, "headers": list(self.headers)})
        await send({"type": "http.response.body", "body": b"not\0 today" if status >= 300 else b""})


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    with listening("127.0.0.1", 0) as listener:
        async with served(receiver.app, listener, "receiver") as url:
            receiver.url = url.replace("127.0.0.1", "hooks.example")
            yield receiver
