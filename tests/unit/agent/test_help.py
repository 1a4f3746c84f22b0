"""Codes, questions and captchas: who answers, and what happens when nobody does."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any

import pyotp
import pytest

from shoal.agent.errors import HelpMissing, SecretRefused
from shoal.agent.hooks import Hooks
from shoal.agent.sessions.attended.human_help import Question, helping, totp_code
from shoal.agent.spec import JobSpec

KEY = "JBSWY3DPEHPK3PXP"  # of 80 bits, as most sites give
LONG_KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
URL = "https://shop.example/login"


class Known(pyotp.TOTP):
    """The library's own, without its lower limit of a key's length."""

    def byte_secret(self) -> bytes:
        return base64.b32decode(self.secret)


def test_the_codes_are_those_of_the_standard() -> None:
    assert Known(LONG_KEY, digits=8).at(59) == "94287082"  # RFC 6238, appendix B


def hooks(helper: Any = None, secret: Any = lambda name, url: KEY, **spec: Any) -> Hooks:
    return helping(Hooks(), JobSpec(**{"url": URL, "goal": "Log in", **spec}), secret, helper)


async def test_a_totp_key_gives_the_code_of_now() -> None:
    asked: list[tuple[str, str]] = []

    def secret(name: str, url: str) -> str:
        asked.append((name, url))
        return KEY

    code = hooks(secret=secret, totp="SHOP_OTP").verification_code
    assert code is not None
    assert Known(KEY).verify(await code(URL), valid_window=1)
    assert asked == [("secret:SHOP_OTP", URL)], "bound to the page's domain like every secret"


async def test_an_otpauth_address_is_a_key_too() -> None:
    known = pyotp.TOTP(LONG_KEY, digits=8, digest=hashlib.sha256)
    assert known.verify(await totp_code(known.provisioning_uri(name="ada", issuer_name="Shop")), valid_window=1)


@pytest.mark.parametrize(
    "key",
    [
        *("", "no base32!", "otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1", "otpauth://x"),
        *(f"otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&{odd}" for odd in ("period=0", "period=-30", "digits=0")),
        *(f"otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&{odd}" for odd in ("digits=99", "digits=x", "algorithm=XOF")),
        "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&algorithm=shake_256",
    ],
)
async def test_what_is_no_totp_key_is_said(key: str) -> None:
    with pytest.raises(HelpMissing):
        await totp_code(key)


async def test_a_secret_for_another_domain_gives_no_code() -> None:
    def refuse(name: str, url: str) -> str:
        raise SecretRefused(name)

    code = hooks(secret=refuse, totp="SHOP_OTP").verification_code
    assert code is not None
    with pytest.raises(SecretRefused):
        await code(URL)


async def test_a_helper_is_asked_for_codes_questions_and_captchas() -> None:
    asked: list[Question] = []

    async def helper(question: Question) -> str:
        asked.append(question)
        return " 123456 "

    lent = hooks(helper, help={"webhook": "https://hooks.example/x", "timeout_s": 5})
    assert lent.verification_code and lent.ask_user and lent.solve_captcha
    assert await lent.verification_code(URL) == "123456"
    assert await lent.ask_user("Which address?", URL) == " 123456 "
    assert await lent.solve_captcha(URL) is True
    assert [(q.kind, q.url, q.timeout_s) for q in asked] == [
        ("code", URL, 5),
        ("question", URL, 5),
        ("captcha", URL, 5),
    ]


async def test_nobody_answers_in_time() -> None:
    async def helper(question: Question) -> str:
        await asyncio.Event().wait()
        return ""

    lent = hooks(helper, help={"webhook": "https://hooks.example/x", "timeout_s": 0.01})
    assert lent.verification_code
    with pytest.raises(HelpMissing, match=r"within 0\.01 s"):
        await lent.verification_code(URL)


async def test_an_empty_code_is_none() -> None:
    async def helper(question: Question) -> str:
        return "  "

    lent = hooks(helper, help={"webhook": "https://hooks.example/x"})
    assert lent.verification_code
    with pytest.raises(HelpMissing):
        await lent.verification_code(URL)


def test_without_anybody_the_hooks_stay_empty() -> None:
    assert hooks() == Hooks()
