"""Addresses as a browser writes them, where that takes no more than joining and lower case."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit, urlunsplit

from shoal.agent.documents.beyond import BeyondDocument

_PLAIN = re.compile(
    r"(?!(?:[A-Za-z0-9+.-]*:)?//(?:[/?#]|\Z|[^/?#]*[\[\]]))"  # a host, and no brackets there
    r"[A-Za-z0-9\-._~:/@!$&()*+,;=%'\[\]]*"
    r"(?:\?[A-Za-z0-9\-._~:/@!$&()*+,;=%\[\]|^`{}?]*)?"
    r"(?:#[A-Za-z0-9\-._~:/@!$&()*+,;=%\[\]|^{}?'#]*)?"
)
"""Path, query and fragment of what a browser leaves as it is: Chromium, which encodes `|` in a path."""
_PARTS = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/?#]*)?)([^?#]*)((?:\?[^#]*)?)(.*)", re.DOTALL)
_ENCODED_IN_PATH = re.compile(r'[ "<>`{}^|]|[^\x00-\x7f]')
_ENCODED_IN_QUERY = re.compile(r"""[ "<>']|[^\x00-\x7f]""")
_ENCODED_IN_FRAGMENT = re.compile(r'[ "<>`]|[^\x00-\x7f]')
_HOST = re.compile(r"[a-z0-9.-]+(?::[0-9]+)?")
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def resolved(text: str, base: str) -> str:
    """`text` as an absolute address of http or https; as it is for another scheme.

    Raises:
        BeyondDocument: the URL standard does more with it than is known here.
    """
    if not _PLAIN.fullmatch(text):
        raise BeyondDocument("an address has characters that a browser would write otherwise")
    if _HAS_SCHEME.match(text) and not re.match(r"https?://", text, re.IGNORECASE):
        if text.startswith(("mailto:", "tel:")):
            return text
        raise BeyondDocument("an address is of no web scheme")
    if text.partition("#")[0].endswith("?"):
        raise BeyondDocument("an address has an empty query")
    path = urlsplit(text).path
    if path and not path.startswith("/") and ("//" in path or "//" in urlsplit(base).path):
        raise BeyondDocument("an address is relative and has an empty part, which `urljoin` leaves out")
    joined = urljoin(base, text) if text else base.partition("#")[0]
    return normal(joined + ("#" if text.endswith("#") and not joined.endswith("#") else ""))


def as_browser_writes(text: str) -> str:
    """An address with percent signs where a browser writes them in a path, query or fragment; the rest is as it is."""
    parts = _PARTS.fullmatch(text)
    assert parts is not None
    origin, path, query, fragment = parts.groups()
    encoded = ((_ENCODED_IN_PATH, path), (_ENCODED_IN_QUERY, query), (_ENCODED_IN_FRAGMENT, fragment))
    return origin + "".join(characters.sub(_percent, part) for characters, part in encoded)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def normal(url: str) -> str:
    """An absolute address of plain characters as a browser writes it.

    Raises:
        BeyondDocument: as `resolved`.
    """
    if not _PLAIN.fullmatch(url):
        raise BeyondDocument("an address has characters that a browser would write otherwise")
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), parts.netloc.lower()
    plain = scheme in _DEFAULT_PORTS and _HOST.fullmatch(host) is not None
    if not plain or (host.rpartition(".")[2].partition(":")[0].isdigit() and not _is_ipv4(host)):
        raise BeyondDocument("an address has a host that a browser would write otherwise")
    path = parts.path or "/"
    if "/./" in f"{path}/" or "/../" in f"{path}/" or "%2e" in path.lower() or not path.startswith("/"):
        raise BeyondDocument("an address has a path that a browser would write otherwise")
    host = host.removesuffix(_DEFAULT_PORTS.get(scheme, "\n"))
    made = urlunsplit((scheme, host, path, parts.query, parts.fragment))
    empty_query = "?" in url.partition("#")[0] and not parts.query
    if empty_query or ("#" in url and not parts.fragment):
        made = url.replace(f"{parts.scheme}://{parts.netloc}", f"{scheme}://{host}", 1)  # an empty query stays
        if not parts.path:
            raise BeyondDocument("an address has a query without a path")
    return made


def _is_ipv4(host: str) -> bool:
    name = host.partition(":")[0]
    parts = name.split(".")
    return len(parts) == 4 and all(
        part.isdigit() and len(part) <= 3 and str(int(part)) == part and int(part) < 256 for part in parts
    )
