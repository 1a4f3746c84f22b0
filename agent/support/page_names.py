"""Names of the page's elements, as our scripts ask for them: no field of a form and no picture stands in for one.

A form gives its fields by their names before what every element has: in `<form><input name=children>`, `form.children`
is the field. So does a document with its pictures, forms and frames. A symbol names no field, so our scripts ask by
symbols: `node.children` is sent as `node[own$children]`, where Chromium's own prototypes answer. A window gives all
elements with an id: what our scripts keep there is the window's own from the beginning.
"""

from __future__ import annotations

import re

from shoal.agent.support.bounded_cache import bounded_cache

_ASKED_FOR = """
action activeElement addEventListener after all anchors append assignedSlot attributes baseURI before blur body checked
checkValidity checkVisibility childElementCount childNodes children classList className clientHeight clientLeft
clientTop clientWidth cloneNode closest compareDocumentPosition computedStyleMap contains contentDocument
contentEditable contentType
control createElement createRange createTreeWalker dataset defaultView designMode disabled documentElement
elementFromPoint elements elementsFromPoint evaluate firstChild firstElementChild form forms getAnimations
getAttribute getAttributeNames getBoundingClientRect getClientRects getElementById getElementsByClassName
getElementsByTagName getRootNode hasAttribute hasAttributes head hidden href id inert innerHTML innerText isConnected
isContentEditable labels lang lastElementChild links localName matches method multiple name namespaceURI
nextElementSibling nextSibling nodeName nodeType nodeValue normalize offsetHeight offsetParent offsetWidth open
outerHTML ownerDocument parentElement parentNode part previousElementSibling previousSibling querySelector
querySelectorAll readyState remove replaceChildren role scripts scrollBy scrollHeight scrollingElement scrollIntoView
scrollIntoViewIfNeeded scrollLeft scrollTo scrollTop scrollWidth selected shadowRoot src style tabIndex tagName target
textContent title type value
"""
NAMES = tuple(_ASKED_FOR.split())
"""Names that our scripts read of elements that may be forms, and of documents."""
GLOBALS = ("shoalWalker", "shoalChanges", "shoalPage", "shoalWatch", "shoalLasting", "shoalCounted", "shoalRecording")
"""Names of the objects that our scripts keep in an isolated world."""

_QUOTED = r"""(?:"(?:[^"\\\n$]|\\.|\$(?!\{))*"|'(?:[^'\\\n$]|\\.|\$(?!\{))*')"""
_ASKED = re.compile(rf"{_QUOTED}|(?<=[\w$)\]}}])(\??)\.({'|'.join(NAMES)})\b")
"""A text in quotes, which stays, or a question."""
_OWN = """(Object.hasOwn(globalThis, 'shoalOwn') ? globalThis.shoalOwn : (() => {
  const own = Object.fromEntries('NAMES'.split(' ').map(name => [name, Symbol.for('shoal ' + name)]));
  // Each window has prototypes of its own: those of a frame are given the symbols as soon as its document is asked for.
  const give = view => {
    if (Object.hasOwn(view, 'shoalOwn')) return;
    Object.defineProperty(view, 'shoalOwn', { value: own });
    const form = view.HTMLFormElement.prototype;
    const kinds = [view.EventTarget, view.Node, view.Element, view.HTMLElement, view.SVGElement, view.HTMLFormElement,
      view.Document, view.DocumentFragment, view.ShadowRoot];
    for (const [name, symbol] of Object.entries(own)) {
      // Whatever is neither a document nor a form has nothing of its own by a name.
      const plain = { get() { return this[name]; }, set(value) { this[name] = value; } };
      Object.defineProperty(view.Object.prototype, symbol, plain);
      if (!(name in form)) Object.defineProperty(form, symbol, { value: undefined });
      for (const { prototype } of kinds) {
        const property = Object.getOwnPropertyDescriptor(prototype, name);
        if (property) Object.defineProperty(prototype, symbol, property);
      }
    }
    const inner = {
      get() { const inside = this.contentDocument; if (inside) give(this.contentWindow); return inside; },
    };
    for (const { prototype } of [view.HTMLIFrameElement, view.HTMLFrameElement, view.HTMLObjectElement])
      Object.defineProperty(prototype, own.contentDocument, inner);
  };
  give(globalThis);
  for (const name of 'GLOBALS'.split(' '))
    if (!Object.hasOwn(globalThis, name)) Object.defineProperty(globalThis, name, { value: undefined, writable: true });
  return own;
})())""".replace("NAMES", " ".join(NAMES)).replace("GLOBALS", " ".join(GLOBALS))


def symbol(name: str) -> str:
    """The symbol that stands for one of `NAMES`, as a script writes it."""
    return f"Symbol.for('shoal {name}')"


def function_by_names(function: str) -> str:
    """A function for an isolated world of a page, which asks elements by names that the page cannot take."""
    symbols, asking = _by_names(function)
    return f"function (...given) {{ {symbols} return ({asking}\n).apply(this, given); }}"


def script_by_names(script: str) -> str:
    """An expression or statements for an isolated world, in the same way."""
    symbols, asking = _by_names(script)
    return f"{{ {symbols} {asking}\n}}" if symbols else script


@bounded_cache(64, longest=200_000)
def _by_names(script: str) -> tuple[str, str]:
    """The symbols that a script asks by, as constants, which cost less than properties of a global; and the script."""
    names = dict.fromkeys(asked[2] for asked in _ASKED.finditer(script) if asked[2])
    if not names:
        return "", script
    symbols = ", ".join(f"{name}: own${name}" for name in names)
    asking = _ASKED.sub(lambda asked: f"{asked[1] and '?.'}[own${asked[2]}]" if asked[2] else asked[0], script)
    return f"const {{ {symbols} }} = {_OWN};", asking
