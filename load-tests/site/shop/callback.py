"""The request to be called back: the address that takes the form answers it by itself.

The same address gives nothing by GET, so a browser that comes back to it is told that there is no such page.
"""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shop.rendering import page
from shop.state import shop_of

_PHONE = re.compile(r"\+?[0-9 ()/.-]{6,24}")


async def form(request: Request) -> Response:
    """The empty form."""
    return page(request, "callback.html", values={}, errors={}, submission=None)


async def send(request: Request) -> Response:
    """Checks the form and answers by itself. Sent twice, it is accepted twice: the log tells."""
    async with request.form() as given:
        values = {name: str(given.get(name, "")).strip() for name in ("full_name", "email", "tel")}
    errors = {}
    if not values["full_name"]:
        errors["full_name"] = "Please enter your name."
    if "@" not in values["email"]:
        errors["email"] = "Please enter an e-mail address such as name@example.org."
    if not _PHONE.fullmatch(values["tel"]):
        errors["tel"] = "Please enter a phone number with figures, spaces and an optional + in front."
    submission = None if errors else shop_of(request).accept(request, "callback", "C", values)
    status = 422 if errors else 200
    return page(request, "callback.html", status=status, values=values, errors=errors, submission=submission)


async def nothing(request: Request) -> Response:
    """Discard what the answer's address gives by GET."""
    raise HTTPException(404)


routes = [
    Route("/callback", form),
    Route("/callback/request", send, methods=["POST"]),
    Route("/callback/request", nothing),
]
