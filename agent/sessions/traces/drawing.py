"""A site's drawing (SVG) as it may leave the worker: opened as a page, it runs, loads and links to nothing."""

from __future__ import annotations

import re

from lxml import etree

SVG_TYPE = "image/svg+xml"
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_ELEMENTS = frozenset(
    (
        *("svg", "g", "defs", "symbol", "use", "switch", "view", "title", "desc", "style", "image", "marker", "mask"),
        *("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "textPath"),
        *("linearGradient", "radialGradient", "stop", "pattern", "clipPath", "filter", "feBlend", "feColorMatrix"),
        *("feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting", "feDisplacementMap"),
        *("feDistantLight", "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG", "feFuncR", "feGaussianBlur"),
        *("feImage", "feMerge", "feMergeNode", "feMorphology", "feOffset", "fePointLight", "feSpecularLighting"),
        *("feSpotLight", "feTile", "feTurbulence"),
    )
)
"""Elements that only draw. Of others nothing stays, but of links what they hold. `set` and `animate` are left out: they
can set the address of a link, or a handler."""
_LINK = f"{_NAMESPACE}a"
_KEPT = frozenset({_LINK, *(_NAMESPACE + name for name in _ELEMENTS)})
_ADDRESSES = ("href", "{http://www.w3.org/1999/xlink}href")
_WITHIN = re.compile(r"\s*(#|data:image/(png|jpeg|gif|webp)[;,])", re.IGNORECASE)


def redacted_drawing(data: bytes) -> bytes | None:
    """The drawing `data` without scripts, handlers, foreign elements, links and animations.

    None: it is no SVG, or nested too deeply.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None
    if root.tag != f"{_NAMESPACE}svg":
        return None
    foreign = {str(tag) for element in root.iter() if isinstance(tag := element.tag, str) and tag not in _KEPT}
    etree.strip_elements(root, etree.Entity, *foreign, with_tail=False)
    etree.strip_tags(root, _LINK)
    for element in root.iter():
        for name, value in element.attrib.items():
            if not _harmless(str(name), str(value)):
                del element.attrib[name]
    return bytes(etree.tostring(root, encoding="utf-8"))


def _harmless(name: str, value: str) -> bool:
    """Return whether an attribute is one of drawings, no handler of an event,
    and leads to nothing outside of the drawing.
    """
    if name in _ADDRESSES:
        return _WITHIN.match(value) is not None
    return not name.startswith("{") and not name.lower().startswith("on")
