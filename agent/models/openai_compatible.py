"""The model seam over any server that speaks OpenAI's chat completions: vLLM first."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from shoal.agent.errors import ModelRefused, ModelUnavailable, PromptTooLong
from shoal.agent.models.answers import BoundedModelTransport
from shoal.agent.models.breaker import Breaker
from shoal.agent.models.estimate import estimated_usage
from shoal.agent.models.http_library import OpenAIHttpClient, http
from shoal.agent.models.images import fitted
from shoal.agent.models.model import Ask, Message, Reply
from shoal.agent.models.settings import ImageGrid, ModelSettings
from shoal.agent.support.json_value import Json
from shoal.agent.types import Usage
from shoal.prompts import render

_log = logging.getLogger(__name__)

_MAY_PASS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that another try may turn into an answer; the request has no effect at the server but its cost."""

_OVERLOAD = frozenset({429, 503, 529})
"""The server lives and asks for a pause: no reason to open the circuit."""

_AWAY = frozenset({502, 503, 504})
"""HTTP statuses of a proxy or a service whose server is not there, and of vLLM while it starts or ends."""

_BROKEN_OFF = "abort"
"""Why a reply ended, in vLLM's words, when the server itself ends: what came so far is sent with status 200."""

_TOO_LONG = ("context length", "context_length", "max_model_len", "maximum model length", "prompt is too long")
"""No status says this one; these are the words of vLLM, OpenAI, llama.cpp and SGLang."""

_REMEMBERED_SHAPES = 256
"""Reply shapes that a server has refused and that are remembered; jobs bring schemas of their own without end."""

_SHOWN_CHARS = 500


class _Trouble(Exception):
    """One try failed in a way that another may not."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, away: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.away = away  # the server is not there, or not yet: nothing was lost but the way to it


class _AllAway(Exception):
    """Every server is being left alone."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"the model server failed repeatedly and is left alone for {wait_s:.0f} s")
        self.wait_s = wait_s


AFFINITY = "X-Shoal-Affinity"
"""Header by which a router before several servers can keep a loop on one of them, as this client does by itself."""


class OpenAICompatible:
    """A model on one or several like servers; requests with the same affinity keep to one server while it is well."""

    def __init__(self, settings: ModelSettings) -> None:
        if not settings.base_urls:
            raise ValueError("a model needs at least one base URL")
        self._settings = settings
        self._servers = [_ModelServer(url, settings) for url in settings.base_urls]
        self._closed = False

    async def ask(self, ask: Ask) -> Reply:
        """The answer of the first server that gives one.

        While all servers are away it waits, up to `patience_s`: a server that starts again is no reason to lose what a
        session has done.

        Raises:
            ModelUnavailable: after retries; `retry_after_s` in the details when the circuit is open.
            ModelRefused: the server refuses the request itself; PromptTooLong when that is why.
        """
        sent = await self._with_fitted_images(ask)
        patient_until = time.monotonic() + self._settings.patience_s
        tried = 0
        while not self._closed:
            try:
                server = self._server_for(ask.affinity, tried)
                return await server.ask(sent)
            except _AllAway as away:
                if time.monotonic() >= patient_until:
                    raise ModelUnavailable(str(away), retry_after_s=away.wait_s) from away
                left = patient_until - time.monotonic()
                await asyncio.sleep(max(0.0, min(left, away.wait_s, self._settings.retry_max_s)))
            except _Trouble as trouble:
                tried += 1
                patient = trouble.away and time.monotonic() < patient_until
                if tried > self._settings.retries and not patient:
                    raise ModelUnavailable(f"after {tried} tries: {trouble}", server=server.url) from trouble
                # With another server at hand there is nothing to wait for in the first round.
                if tried >= len(self._servers) or trouble.retry_after_s is not None:
                    await asyncio.sleep(self._pause_s(tried, trouble.retry_after_s))
        raise ModelUnavailable("the model client is closed")

    def _server_for(self, affinity: str, tried: int) -> _ModelServer:
        """The server for the next try: the affinity's own first, then the next one that is not left alone.

        A server that has its fill of this client's requests is passed over while another has not: past that point a
        longer queue costs more than the second server's cold cache.
        """
        ranked = sorted(self._servers, key=lambda server: _weight(affinity, server.url))
        ranked = ranked[tried % len(ranked) :] + ranked[: tried % len(ranked)]
        full = self._settings.spill_share * self._settings.max_connections
        waits = [server.breaker.wait_s() for server in ranked]
        well = [server for server, wait_s in zip(ranked, waits, strict=True) if wait_s == 0]
        if not well:
            raise _AllAway(min(waits))
        return next((server for server in well if server.in_flight < full), well[0])

    async def use(self, base_urls: Sequence[str]) -> None:
        """From now on these servers are asked. What the others still work at ends there; returns once it has.

        Raises:
            ValueError: there are none.
        """
        if not base_urls:
            raise ValueError("a model needs at least one base URL")
        known = {server.url: server for server in self._servers}
        urls = dict.fromkeys(base_urls)
        self._servers = [known.pop(url) if url in known else _ModelServer(url, self._settings) for url in urls]
        try:
            await asyncio.gather(*(server.idle.wait() for server in known.values()))
        finally:
            for server in known.values():
                await server.client.close()

    @property
    def in_flight(self) -> dict[str, int]:
        """Requests under way, by server."""
        return {server.url: server.in_flight for server in self._servers}

    async def _with_fitted_images(self, ask: Ask) -> Ask:
        if not any(message.images for message in ask.messages):
            return ask
        if not self._settings.images:
            return replace(ask, messages=tuple(replace(message, images=()) for message in ask.messages))
        grid = self._settings.grid
        return ask if grid is None else await asyncio.to_thread(_fit_images, ask, grid)

    def _pause_s(self, tried: int, asked_for: float | None) -> float:
        """Full jitter: sessions that failed together do not come back together. A server's own wish is a floor."""
        limit = self._settings.retry_max_s
        backoff = random.uniform(0, min(limit, self._settings.retry_base_s * 2 ** min(tried - 1, 30)))
        return min(limit, max(asked_for or 0.0, backoff))

    async def close(self) -> None:
        """Ends the connections; may be called twice."""
        self._closed = True
        for server in self._servers:
            await server.client.close()


def _weight(affinity: str, url: str) -> bytes:
    """Rendezvous hashing: when a server is added or goes, only its own share of the keys moves."""
    return hashlib.blake2b(f"{affinity}\0{url}".encode(), digest_size=8).digest()


class _ModelServer:
    """One server: its connections, its circuit breaker, and which reply shapes it does not enforce."""

    def __init__(self, url: str, settings: ModelSettings) -> None:
        self.url = url
        self.breaker = Breaker(settings.breaker_failures, settings.breaker_pause_s)
        self._settings = settings
        self._unenforced: dict[str, None] = {}
        self._estimates = False  # its replies do not say what they cost
        self.in_flight = 0
        self.idle = asyncio.Event()  # nothing is under way
        self.idle.set()
        timeout = openai.Timeout(settings.timeout_s, connect=settings.connect_timeout_s)
        self.client = AsyncOpenAI(
            base_url=url,
            api_key=settings.api_key or "none",
            max_retries=0,  # tries are counted in one place, above
            timeout=timeout,
            http_client=OpenAIHttpClient(
                base_url=url,
                timeout=timeout,
                trust_env=False,
                transport=BoundedModelTransport(
                    http.AsyncHTTPTransport(
                        limits=http.Limits(max_connections=settings.max_connections),
                        proxy=settings.proxy,
                        trust_env=False,
                    )
                ),
            ),
        )
        # Both were taken from the environment of the process.
        self.client.organization = self.client.project = None

    async def ask(self, ask: Ask) -> Reply:
        """One try, or two where the server turns out not to take the schema."""
        self.in_flight += 1
        self.idle.clear()
        try:
            return await self._ask(ask)
        finally:
            self.in_flight -= 1
            if self.in_flight == 0:
                self.idle.set()

    async def _ask(self, ask: Ask) -> Reply:
        shape = _shape(ask)
        enforce = ask.json_schema is not None and self._settings.structured != "off" and shape not in self._unenforced
        if not enforce:
            return await self._send(ask, enforce=False)
        try:
            return await self._send(ask, enforce=True)
        except PromptTooLong:
            raise
        except ModelRefused as refusal:
            if self._settings.structured == "json_schema" or refusal.details.get("status") not in (400, 422):
                raise
            # Nothing standard tells a refused schema from any other bad request. If the same request passes without
            # one, it was the schema; if not, the second refusal is the answer.
            reply = await self._send(ask, enforce=False)
            self._unenforced[shape] = None
            while len(self._unenforced) > _REMEMBERED_SHAPES:
                self._unenforced.pop(next(iter(self._unenforced)))
            return reply

    async def _send(self, ask: Ask, *, enforce: bool) -> Reply:
        started = time.monotonic()
        self.breaker.begin()
        try:
            # httpx limits each read, not the whole: a server that drips a byte a minute would hold a session for ever.
            async with asyncio.timeout(self._settings.timeout_s):
                completion = await self.client.chat.completions.create(**self._body(ask, enforce=enforce))
            reply = self._counted(_reply(completion, time.monotonic() - started), ask)
        except _Trouble:
            self.breaker.failed()
            raise
        except (openai.APITimeoutError, TimeoutError) as err:
            self.breaker.failed()
            if isinstance(err.__cause__, http.ConnectTimeout):  # a machine that is gone: nothing was asked of it
                raise _Trouble(f"no connection within {self._settings.connect_timeout_s:g} s", away=True) from err
            # Not tried again here: the server may still be at work on it, and a second request would double its load.
            raise ModelUnavailable(f"no answer within {self._settings.timeout_s:.0f} s", server=self.url) from err
        except openai.APIStatusError as err:
            self._note_status(err.status_code)
            _raise_for_status(err)
        except (openai.APIError, ValueError) as err:
            self.breaker.failed()
            unreadable = isinstance(
                err.__cause__, http.DecodingError
            )  # a server that is there, and sends what is too long
            away = isinstance(err, openai.APIConnectionError) and not unreadable
            raise _Trouble(f"{type(err).__name__}: {err}", away=away) from err
        except asyncio.CancelledError:
            self.breaker.abandoned()
            raise
        self.breaker.succeeded()
        return reply

    def _counted(self, reply: Reply, ask: Ask) -> Reply:
        """`reply` with an estimate where the server counts nothing: a budget that nothing is taken off never ends."""
        if reply.usage.prompt_tokens or reply.usage.completion_tokens:
            return reply
        if not self._estimates:
            self._estimates = True
            _log.warning("the model server %s does not count tokens: budgets go by our own estimate", self.url)
        image_tokens = self._settings.image_tokens or ImageGrid().tokens
        return replace(reply, usage=estimated_usage(ask, reply.text, image_tokens), estimated=True)

    def _note_status(self, status: int) -> None:
        if status in _OVERLOAD or status not in _MAY_PASS:
            self.breaker.succeeded()
        else:
            self.breaker.failed()

    def _body(self, ask: Ask, *, enforce: bool) -> dict[str, Json]:
        settings = self._settings
        messages = list(ask.messages)
        if ask.json_schema is not None and not enforce:
            messages.append(Message("user", render("shape", schema=ask.json_schema)))
        body: dict[str, Json] = {
            "model": settings.model,
            "messages": _wire(messages),
            settings.token_limit_field: min(ask.max_tokens, settings.max_tokens),
            "temperature": ask.temperature if settings.temperature is None else settings.temperature,
        }
        if enforce:
            named = {"name": ask.schema_name, "strict": True, "schema": ask.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if settings.extra_body:
            body["extra_body"] = dict(settings.extra_body)
        if ask.affinity:
            body["extra_headers"] = {AFFINITY: ask.affinity}
        return body


def _fit_images(ask: Ask, grid: ImageGrid) -> Ask:
    """`ask` with every image as the model's grid wants it; one that cannot be read is left out, since servers fail."""
    messages = []
    for message in ask.messages:
        pictures = (fitted(image, grid) for image in message.images)
        messages.append(replace(message, images=tuple(picture.image for picture in pictures if picture is not None)))
    return replace(ask, messages=tuple(messages))


def _shape(ask: Ask) -> str:
    """Return what a refusal is remembered by: keywords and nesting of the schema, not this page's ids."""
    return f"{ask.schema_name} {hashlib.blake2b(repr(_outline(ask.json_schema)).encode(), digest_size=8).hexdigest()}"


def _outline(schema: Json) -> Json:
    if isinstance(schema, dict):
        return {key: "…" if key in ("enum", "const", "description") else _outline(part) for key, part in schema.items()}
    if isinstance(schema, list):
        return [_outline(part) for part in schema]
    return schema


def _wire(messages: Sequence[Message]) -> list[dict[str, Json]]:
    """The messages in the protocol's form; neighbours of one role become one message, since some templates insist.

    Parts keep their order, so that an image of the page stands after the text that stays the same. Neighbouring texts
    become one with an empty line between them, whether images follow or not: templates put nothing between parts, and a
    request with images must begin like one without.
    """
    wired: list[dict[str, Json]] = []
    for message in messages:
        if not wired or wired[-1]["role"] != message.role:
            wired.append({"role": message.role, "content": []})
        parts = wired[-1]["content"]
        parts += [_image_part(image.data, image.content_type) for image in message.images]
        if message.text and parts and parts[-1]["type"] == "text":
            parts[-1]["text"] += f"\n\n{message.text}"
        elif message.text:
            parts.append({"type": "text", "text": message.text})
    for message_out in wired:
        if all(part["type"] == "text" for part in message_out["content"]):
            message_out["content"] = "".join(part["text"] for part in message_out["content"])
    return wired


def _image_part(data: bytes, content_type: str) -> dict[str, Json]:
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{content_type};base64,{encoded}"}}


def _reply(completion: ChatCompletion, seconds: float) -> Reply:
    """The completion as a record; a 200 that is none (a proxy's page, another protocol) counts as trouble."""
    # The client builds its records without checking them: every attribute may be missing or of another type.
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    content = getattr(message, "content", None)
    if message is None or not isinstance(content, str | None):
        raise _Trouble(f"not a chat completion: {str(completion)[:_SHOWN_CHARS]}")
    finish = getattr(choice, "finish_reason", None)
    if finish == _BROKEN_OFF:
        raise _Trouble("the server broke the reply off", away=True)
    return Reply(
        text=content or "",
        usage=_usage(getattr(completion, "usage", None)),
        finish_reason=finish if isinstance(finish, str) else "stop",
        seconds=seconds,
    )


def _usage(usage: object) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        model_calls=1,
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
    )


def _count(owner: object, name: str) -> int:
    value = getattr(owner, name, None)
    return value if isinstance(value, int) else 0


def _raise_for_status(err: openai.APIStatusError) -> NoReturn:
    status, words = err.status_code, str(err)[:_SHOWN_CHARS]
    if status in _MAY_PASS or status >= 500:
        raise _Trouble(words, retry_after_s=_retry_after_s(err), away=status in _AWAY) from err
    if status in (400, 413) and (err.code == "context_length_exceeded" or any(w in words.lower() for w in _TOO_LONG)):
        raise PromptTooLong(words, status=status) from err
    raise ModelRefused(words, status=status) from err


def _retry_after_s(err: openai.APIStatusError) -> float | None:
    """The server's wish in seconds; its form with a date is rare among model servers and counts as none."""
    try:
        return max(0.0, float(err.response.headers.get("retry-after", "")))
    except ValueError:
        return None
