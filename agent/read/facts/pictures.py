"""Addresses of pictures, of those that are loaded late as well."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from shoal.agent.read.values.placeholders import is_no_picture

_LATE = re.compile(r"data-(?:[\w-]{0,20}-)?(?:src|original)")
"""Names under which scripts find the address of a picture that is loaded when a person comes near it."""


def picture_address(img: HtmlElement) -> str:
    """Where a picture is, as it is written; "" for one that only stands in until a script has loaded another."""
    stated = [img.get("src") or "", *(value for name, value in img.items() if _LATE.fullmatch(name))]
    return next((address.strip() for address in stated if address.strip() and not is_no_picture(address)), "")
