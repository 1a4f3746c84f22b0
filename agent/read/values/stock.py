"""Words, in several languages, that say that something can or cannot be had."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from shoal.agent.read.values.currencies import CURRENCY_SIGNS
from shoal.agent.read.values.phrases import fold, squash
from shoal.agent.read.word_lists.value_words import IN_STOCK, OUT_OF_STOCK, PREORDER

Stock = Literal["in", "out", "preorder"]


def _phrases(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        sorted({" ".join(squash(re.sub(r"[\W_]+", " ", text)).split()) for text in texts}, key=len, reverse=True)
    )


_OUT, _IN, _PRE = _phrases(OUT_OF_STOCK), _phrases(IN_STOCK), _phrases(PREORDER)
_ZERO = re.compile(
    r"^(?:only )?0 (?:piece |pcs |stuck |item )?(?:in stock|left|available|auf lager|skladem|en stock|op voorraad)"
)
_SOME = re.compile(
    r"\b(?:only |nur noch |noch |plus que |posledni |last |letzte )?(\d+) (?:\w+ )?"
    r"(?:in stock|left|available|auf lager|verfugbar|skladem|en stock|op voorraad|remaining)\b"
    r"|\b(?:only|nur noch|plus que) \d+\b"
    r"|\b(?:last|letzte|derniers|dernieres|ultimas|posledni) \d+ "
    r"(?:piece|pieces|item|items|stuck|pcs|exemplaires|unidades"
    r"|kusy|ks)\b"
)
_NOT = frozenset(
    ("not", "no", "never", "isn", "nicht", "kein", "keine", "non", "pas", "niet", "nie", "neni", "nao", "ej")
)
_CLAUSE = re.compile(r"[.,;:!?|•–—\n]")
_LATER = re.compile(
    r"(?:again |wieder )?(?:from|ab|od|starting|a partir d[eu])(?: the| dem| le)? "
    r"(?:\d|jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|okt|oct|nov|de[cz])"
    r"|(?:again|soon|bientot|demnachst)\b"
)
"""Behind a phrase that says "to be had": not today."""
_SCHEMA_STOCK: dict[str, Stock] = {
    "instock": "in",
    "limitedavailability": "in",
    "onlineonly": "in",
    "instoreonly": "in",
    "madetoorder": "in",
    "outofstock": "out",
    "soldout": "out",
    "discontinued": "out",
    "backorder": "out",
    "reserved": "out",
    "preorder": "preorder",
    "presale": "preorder",
}


def read_stock(text: str) -> Stock | None:
    """Return the stock that `text` tells of:
    a schema.org URL, or a phrase in one of several languages.
    """
    tail = re.split(r"[/#]", text.strip())[-1].replace("_", "").replace(" ", "").replace("-", "").lower()
    if tail in _SCHEMA_STOCK:
        return _SCHEMA_STOCK[tail]
    words = _folded_words(text)
    if not words:
        return None
    padded = f" {words} "
    if _ZERO.match(words) or any(f" {phrase} " in padded for phrase in _OUT):
        return "out"
    if any(f" {phrase} " in padded for phrase in _PRE):
        return "preorder"
    some = _SOME.search(words)
    if some:
        return "out" if some.group(1) == "0" else "in"
    return _as_in(padded, text)


def _as_in(padded: str, text: str) -> Stock | None:
    """Return what a phrase of `_IN` comes to with the words around it;
    None where there is none, or one of another day.
    """
    known = max((phrase for phrase in _IN if f" {phrase} " in padded), key=len, default="")
    if not known:
        return None
    after = padded.partition(f" {known} ")[2]
    for clause in _CLAUSE.split(text):
        before, hit, _ = f" {_folded_words(clause)} ".partition(f" {known} ")
        near = before.split()[-2:]
        if hit and _NOT & set(near) and "only" not in near:
            return "out"
    return None if _LATER.match(after) and not any(sign in text for sign in CURRENCY_SIGNS) else "in"


def _folded_words(text: str) -> str:
    """The folded words of `text`, with single spaces and nothing else."""
    return " ".join(re.sub(r"[\W_]+", " ", squash(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))).split())


def stock_line(text: str) -> Stock | None:
    """`read_stock` for a line without a label: the line has to begin with the phrase, or be little else.

    One word alone proves nothing when more follows ("Available in three colours"), except a time of delivery.
    """
    stock = read_stock(text)
    if stock is None or len(text) > 60:
        return None
    words = _folded_words(text)
    known = max((phrase for phrase in (*_OUT, *_IN, *_PRE) if f" {phrase} " in f" {words} "), key=len, default="")
    some = _SOME.search(words)
    if max(len(known), len(some.group()) if some else 0) >= 0.6 * len(words):
        return stock
    first = max(
        (phrase for phrase in (*_OUT, *_IN, *_PRE) if f"{words} ".startswith(f"{phrase} ")), key=len, default=""
    )
    rest = fold(text)[len(first) :]
    if not first:
        return None
    return stock if " " in first or re.match(r"\s*[,.;:!–—(-]", rest) or _DELIVERY.search(rest) else None


_DELIVERY = re.compile(
    r"\b(?:in|within|ab|bis|until|sous|dans|en|do|now)\b.{0,300}(?:\d|now|day|tag|woche|week|jour|dia|dni)"
)
