"""Answers to what only people, or their keys, know: verification codes, questions, captchas.

A session asks through hooks (`shoal.agent.hooks`). The hooks here take a code from the job's TOTP key where it
has one, and else hand the question to the worker's `Helper`, within the time that the job
gives.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol
from urllib.parse import parse_qs, urlsplit

import pyotp

from shoal.agent.errors import HelpMissing
from shoal.agent.hooks import Hooks
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.spec import JobSpec

Kind = Literal["code", "question", "captcha"]

_LEAST_LEFT_S = 2.0
"""A code with less time left than this is not typed any more: the site would see it too late."""

_DIGESTS = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256, "SHA512": hashlib.sha512}
"""Those that RFC 6238 knows."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question for a person."""

    kind: Kind
    text: str  # for people
    url: str  # of the page that needs the answer
    timeout_s: float


class Helper(Protocol):
    """Asks somebody outside of the session."""

    async def __call__(self, question: Question) -> str:
        """The answer; for a captcha anything but an empty text says that it is solved.

        Raises:
            HelpMissing: there is no helper to ask, or no answer came.
        """
        ...


def redacted(helper: Helper, hidden: Redactor) -> Helper:
    """A helper that is told no secret; what a page says is part of the question."""

    async def ask(question: Question) -> str:
        shown = replace(question, text=hidden.sentence(question.text), url=hidden.address(question.url))
        return await helper(shown)

    return ask


def helping(hooks: Hooks, spec: JobSpec, secret: Callable[[str, str], str], helper: Helper | None) -> Hooks:
    """`hooks` with answers for one job; those that are there already stay.

    Args:
        secret: reference and page URL to the secret's value; raises `SecretRefused`.
        helper: is asked; None: the job names no helper, or none can be reached.
    """

    async def ask(kind: Kind, text: str, url: str) -> str:
        if helper is None:
            raise HelpMissing("there is no helper to ask")
        question = Question(kind, text, url, spec.help.timeout_s)
        try:
            async with asyncio.timeout(question.timeout_s):
                return await helper(question)
        except TimeoutError as late:
            raise HelpMissing(f"no answer came within {question.timeout_s:g} s: {text}") from late

    async def code(url: str) -> str:
        if spec.totp is not None:
            return await totp_code(secret(f"secret:{spec.totp}", url))
        answer = (await ask("code", f"Which verification code was sent for {url}?", url)).strip()
        if not answer:
            raise HelpMissing("the answer holds no verification code")
        return answer

    async def question(text: str, url: str) -> str:
        return await ask("question", text, url)

    async def captcha(url: str) -> bool:
        return bool((await ask("captcha", f"Please solve the captcha on {url}", url)).strip())

    return replace(
        hooks,
        verification_code=hooks.verification_code or (code if spec.wants_codes else None),
        ask_user=hooks.ask_user or (question if helper else None),
        solve_captcha=hooks.solve_captcha or (captcha if helper else None),
    )


async def totp_code(key: str) -> str:
    """The code of a TOTP key now (base32, or a whole otpauth:// address), with time left to type it.

    Raises:
        HelpMissing: it is no such key.
    """
    try:
        otp = _otp(key.strip())
    except (ValueError, TypeError, KeyError) as error:  # binascii.Error is a ValueError
        raise HelpMissing("the secret is no TOTP key: base32 or an otpauth:// address is needed") from error
    left = otp.interval - time.time() % otp.interval
    if left < _LEAST_LEFT_S:
        await asyncio.sleep(left)
    return otp.now()


class _Totp(pyotp.TOTP):
    """A key of any length: how long it is was the site's choice, and many chose 80 bits."""

    def byte_secret(self) -> bytes:
        decoded = base64.b32decode(self.secret + "=" * (-len(self.secret) % 8), casefold=True)
        if not decoded:
            raise ValueError("the key is empty")
        return decoded


def _otp(key: str) -> pyotp.TOTP:
    if not key.startswith("otpauth://"):
        return _Totp(re.sub(r"[\s-]", "", key))
    parts = urlsplit(key)
    if parts.netloc != "totp":
        raise ValueError("not a key of codes by time")
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return _Totp(
        given.get("secret", ""),
        digits=int(given.get("digits", 6)),
        digest=_DIGESTS[given.get("algorithm", "SHA1").upper()],
        interval=int(given.get("period", 30)),
    )
