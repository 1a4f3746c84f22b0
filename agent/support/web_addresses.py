"""Which addresses a browser opens: http and https, and about:blank, which belongs to no site."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from shoal.agent.errors import AddressForbidden

WEB = ("http", "https")
BLANK = "about:blank"
FAILED = "chrome-error:"
"""Prefix of the address of Chromium's page on a failed load."""

# The URL standard: browsers drop control characters and spaces around an address, and tabs and newlines anywhere in it.
_AROUND = "".join(map(chr, range(0x21)))
_ANYWHERE = re.compile(r"[\t\n\r]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SHOWN = 200
_ROUTES = ("/", "!")
"""With which a fragment begins that a page's script takes for a path: `#/item/1`, `#!item`."""
_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)"
)
"""Parameters by which advertisers and newsletters count where visitors come from."""
_SESSION = re.compile(
    r"jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|sessionid|session_id|sessid"
)
_PERHAPS_SESSION = frozenset({"sid", "session", "s", "osid", "zenid", "oscsid"})
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_-]{16,}")
"""A value that no person chose: a short one may name a story or a seat."""
_SESSION_OF_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^;/]*", re.IGNORECASE)
_REACHES = {"mailto": "email", "tel": "phone"}
_LONGEST_REACHED = 300
_DOES = ("javascript", "mailto", "tel", "sms")

# Where pages may take their own window: documents that they make themselves, and Chromium's page on a failed load.
_OF_PAGES = frozenset({"about", "blob", "data", "chrome-error"})


def scheme_of(url: str) -> str:
    """The scheme by which a browser opens `url`, in lower case; "" when the address has none."""
    match = _SCHEME.match(_ANYWHERE.sub("", url.strip(_AROUND)))
    return match.group(1).lower() if match else ""


def is_web(url: str) -> bool:
    """Return whether `url` is an http or https address."""
    return scheme_of(url) in WEB


def address_parts(url: str) -> SplitResult:
    """The parts of an address, all empty where it is none: a page may write `http://[` and `https://shop:port/`."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # it is looked at when it is asked for
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def joined(base: str, address: str) -> str:
    """The absolute address that `address` stands for on the page `base`; "" where it is none."""
    try:
        whole = urljoin(base, address)
    except ValueError:
        return ""
    return whole if any(address_parts(whole)) else ""


def without_fragment(url: str) -> str:
    """The address of a page, without the place on it."""
    return url.partition("#")[0]


def page_address(url: str) -> str:
    """The address of a page, without the place on it. A fragment that a script reads as a path names a page itself."""
    address, _, fragment = url.partition("#")
    return url if fragment.startswith(_ROUTES) else address


def canonical_address(url: str) -> str:
    """By which two addresses are known to be of one page; it is compared, and not opened.

    Left out are the place on the page, what names the visitor's session, and what tells a site where a visitor is from.
    """
    address, hash_sign, route = page_address(url.strip()).partition("#")
    parts = address_parts(address)
    if not any(parts):
        return url.strip()
    query = "&".join(
        part for part in parts.query.split("&") if part and not _is_visitor_parameter(*part.partition("=")[::2])
    )
    path = "/".join(_SESSION_OF_PATH.sub("", step) for step in parts.path.split("/"))
    return urlunsplit((parts.scheme, parts.netloc.lower(), path or "/", query, "")) + hash_sign + route


def link_key(link: str, text: str) -> str:
    """By which a linked thing is known: its page, and the text where its link names a place on that page."""
    page = canonical_address(link)
    return page if page_address(link) == link else f"{page} {text}"


def _is_visitor_parameter(name: str, value: str) -> bool:
    """Return whether a parameter tells visitors apart rather than pages."""
    name = name.lower()
    return bool(_TRACKING.fullmatch(name) or _SESSION.fullmatch(name)) or (
        name in _PERHAPS_SESSION and _TOKEN.fullmatch(value) is not None
    )


def clipped_address(url: str) -> str:
    """`url` as a sentence tells it before secrets are taken out of it: cut between its parts, never within one."""
    if len(url) <= _SHOWN:
        return url
    parts = address_parts(url)
    site, scheme = f"{parts.scheme}://{parts.netloc}", f"{parts.scheme}:" if parts.scheme else ""
    shorter: tuple[str, ...] = (f"{site}{parts.path}", site) if parts.netloc else ()
    return next(text for text in (*shorter, scheme, "") if len(text) <= _SHOWN) + "…"


def host_of(url: str) -> str:
    """The host of an address with its port, in lower case; "" where it is none."""
    return address_parts(url).netloc.lower()


def same_site(page: str, other: str) -> bool:
    """Return whether both addresses are of one site:
    one host, or that of `other` lies below the page's (`www.` aside).
    """
    own, its = address_parts(page), address_parts(other)
    host, below = (own.hostname or "").removeprefix("www."), its.hostname or ""
    if (own.scheme, own.netloc) == (its.scheme, its.netloc):
        return own.scheme in WEB
    named = "." in host and not host.replace(".", "").isdigit() and ":" not in host
    lies_below = below == host or below.endswith(f".{host}")
    return own.scheme == its.scheme and own.scheme in WEB and own.port == its.port and named and lies_below


def reached_by(link: str) -> tuple[str, str]:
    """Return how a link reaches somebody, "email" or "phone", and at what address or number; twice "" for others."""
    scheme, _, rest = link.strip()[:_LONGEST_REACHED].partition(":")
    how, target = _REACHES.get(scheme.lower(), ""), unquote(re.split("[?#]", rest)[0]).strip()
    return (how, target) if target and (how == "phone" or (how and "@" in target)) else ("", "")


def leads_astray(href: str) -> bool:
    """Return whether a link, as a page writes it, leads off the web; ways of saying "this does something" do not."""
    return scheme_of(href) not in ("", *WEB, *_DOES)


def check_opened(url: str, schemes: tuple[str, ...] = WEB) -> None:
    """Lets an address pass that may be opened: one of `schemes`, or about:blank.

    Raises:
        AddressForbidden: it is another, such as a file of this machine, or none, such as `http://[`.
    """
    scheme = scheme_of(url)
    if scheme not in schemes and url != BLANK:
        what = f"{scheme}: addresses" if scheme else "addresses without a scheme"
        raise AddressForbidden(
            f"{clipped_address(url)!r} is not opened: only http and https are, not {what}", url=clipped_address(url)
        )
    if scheme in WEB and not any(address_parts(url)):
        raise AddressForbidden(f"{clipped_address(url)!r} is not opened: it is no address", url=clipped_address(url))


def forbidden_page(url: str, schemes: tuple[str, ...] = WEB) -> AddressForbidden | None:
    """Why nothing is read from the page at `url`, photographed or done on it; None when it may be.

    For windows that were not opened by address, but led somewhere by a redirect, a script or another window.
    """
    scheme = scheme_of(url)
    if not scheme or scheme in schemes or scheme in _OF_PAGES:
        return None
    return AddressForbidden(
        f"the page went to {clipped_address(url)!r}; only http and https are looked at", url=clipped_address(url)
    )


def page_key(address: str) -> str:
    """A digest that names a page from run to run."""
    return hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:32]
