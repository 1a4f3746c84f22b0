"""Asks a job's own webhook what only people know: verification codes, questions, captchas.

The webhook gets `{"id", "kind", "question", "page", "job", "session"}` by POST. It answers 200 with
`{"answer": text}`, or 202 while it has none yet: then it is asked again with the same id, after its own `Retry-After`
or a few seconds. The session's time-out ends the asking.
"""

from __future__ import annotations

import asyncio
import uuid

import httpx

from shoal.agent.errors import HelpMissing
from shoal.agent.fault_table import EGRESS_HEADER
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.agent.worker_messages import Work

_ASK_AGAIN_S = 3.0
_LONGEST_PAUSE_S = 60.0
_CONNECT_S = 10.0
_AWAY = frozenset({"unreachable", "timeout"})
"""Outcomes by which the egress proxy tells that a webhook in plain http is away for a moment."""
_ANSWER_CHARS = 10_000
ANSWER_BYTES = 128 * 1024
"""Bytes of a webhook's answer at most: JSON writes a character with up to 12 bytes."""


class WebhookHelper:
    """A `Helper` for one session.

    Args:
        http: reaches the webhook only as pages may, through the egress filter; its answers are bounded.
        tenant: told to the installation's own gateway, which asks its people.
    """

    def __init__(
        self, url: str, work: Work, http: httpx.AsyncClient, *, tenant: str = "", ask_again_s: float = _ASK_AGAIN_S
    ) -> None:
        self._url = url
        self._work = work
        self._http = http
        self._tenant = tenant
        self._ask_again_s = ask_again_s

    async def __call__(self, question: Question) -> str:
        body = {
            "id": uuid.uuid4().hex,
            "kind": question.kind,
            "question": question.text,
            "page": question.url,
            "job": f"j{self._work.job}",
            "session": f"s{self._work.session}",
            **({"tenant": self._tenant} if self._tenant else {}),
        }
        while True:
            try:
                answer = await self._http.post(
                    self._url, json=body, timeout=httpx.Timeout(question.timeout_s, connect=_CONNECT_S)
                )
            except httpx.TransportError:
                await asyncio.sleep(self._ask_again_s)  # away for a moment; the question's time-out bounds it
                continue
            except httpx.DecodingError as error:
                raise HelpMissing(f"the help webhook's reply cannot be read: {error}") from error
            except (httpx.InvalidURL, UnicodeError) as error:
                raise HelpMissing(f"the help webhook's address cannot be called: {error}") from error
            if answer.headers.get(EGRESS_HEADER) in _AWAY:
                await asyncio.sleep(self._ask_again_s)
                continue
            if answer.status_code != httpx.codes.ACCEPTED:
                return _parse_answer(answer)
            await asyncio.sleep(_pause_s(answer, self._ask_again_s))


def _parse_answer(answer: httpx.Response) -> str:
    if answer.status_code != httpx.codes.OK:
        raise HelpMissing(f"the help webhook answered {answer.status_code}")
    try:
        text = answer.json()["answer"]
    except (ValueError, KeyError, TypeError) as error:
        raise HelpMissing("the help webhook's reply is not JSON with an `answer`") from error
    if not isinstance(text, str) or len(text) > _ANSWER_CHARS:
        raise HelpMissing("the help webhook's `answer` is no text, or too long")
    return text


def _pause_s(answer: httpx.Response, usual_s: float) -> float:
    return min(retry_after_seconds(answer.headers) or usual_s, _LONGEST_PAUSE_S)
