"""Addresses of pictures, of those that are loaded late as well."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from shoal.agent.read.values.placeholders import is_no_picture

_LATE = re.compile(r"data-(?:[\w-]{0,20}-)?(?:src|original)")
"""Names under which scripts find the address of a picture that is loaded when a person comes near it."""


def picture_address(img: HtmlElement) -> str:
    """Return where a picture is, as it is written;
    "" for one that only stands in until a script has loaded another, or counts visits by a single point.

    Of several sizes it is the first.
    """
    if (img.get("width"), img.get("height")) == ("1", "1"):
        return ""
    stated = [img.get("src") or "", *(value for name, value in img.items() if _LATE.fullmatch(name))]
    around = img.getparent()
    sources = around.iterchildren("source") if around is not None and around.tag == "picture" else ()
    for el in (img, *sources):
        stated += [_first_of(el.get(name) or "") for name in ("srcset", "data-srcset")]
    return next((address.strip() for address in stated if address.strip() and not is_no_picture(address)), "")


def _first_of(srcset: str) -> str:
    """The first address of a `srcset`, which white space ends: addresses may have commas."""
    return next(iter(srcset.split(None, 1)), "").rstrip(",")
