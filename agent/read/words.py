"""Words of names and texts, folded so that they compare: `inStock`, `in-stock` and "In stock:" are the same."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from urllib.parse import urlsplit

_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("s", ""))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_TAG = re.compile(r"<\w|</\w")
_BREAKING_TAG = re.compile(r"</?(br|p|li|div|h\d)\b[^>]*>")
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\xad]+")
_ADDRESS = re.compile(r"(https?:)?//")
_LONG = 400
"""Characters from which a text is compared as a long one."""
_LONGEST_NAME = 120
"""Characters of a name that are looked at."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text that white space parts."""
    return frozenset(text.split())


def stem(word: str) -> str:
    """A lower-case word without its plural ending."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)] + instead
    return word


@lru_cache(20_000)
def tokens(name: str) -> tuple[str, ...]:
    """The stems of a name's words, in order; camel case and signs part words."""
    return tuple(stem(word.lower()) for word in _WORD.findall(name[:_LONGEST_NAME]))


def is_plural(name: str) -> bool:
    """True when the last word of a name has a plural ending."""
    words = re.findall(r"[A-Za-z]+", name)
    return bool(words) and words[-1].lower().endswith("s") and stem(words[-1].lower()) != words[-1].lower()


def plain_text(text: str) -> str:
    """`text` without markup, entities and invisible signs; line ends stay."""
    return re.sub(r"[^\S\n]+", " ", _unmarked(text)).strip()


def _unmarked(text: str) -> str:
    text = html.unescape(html.unescape(text))
    if _TAG.search(text):
        text = html.unescape(re.sub(r"<[^>]+>", " ", _BREAKING_TAG.sub("\n", text)))
    return text if text.isascii() else _INVISIBLE.sub("", text)


def one_line(text: str) -> str:
    """`plain_text` on one line."""
    return " ".join(_unmarked(text).split())


def folded(text: str) -> str:
    """`text` for comparing: letters, figures and the signs within figures, in lower case."""
    return re.sub(r"[^\w/.,%]+", "", unicodedata.normalize("NFKC", one_line(text)).casefold()).strip(".,/")


def letters(text: str) -> str:
    """`text` for comparing loosely: letters and figures alone."""
    return re.sub(r"[^\w]+", "", folded(text))


def likeness_of_texts(text: str, other: str) -> float:
    """Share of runs of four words that two long texts have in common, 0 to 1."""
    first, second = _runs(text), _runs(other)
    return 2 * sum((first & second).values()) / max(1, sum(first.values()) + sum(second.values()))


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return Counter(zip(words, words[1:], words[2:], words[3:], strict=False)) or Counter([tuple(words)])


def same_texts(first: str, second: str) -> bool:
    """True when two texts say the same: addresses by their file, long texts nearly, others by their letters."""
    if len(first) > _LONG and len(second) > _LONG:
        return likeness_of_texts(first, second) >= 0.9
    if _ADDRESS.match(first):
        return file_of(first) == file_of(second)
    return folded(first) == folded(second)


def file_of(url: str) -> str:
    """The file that an address names, without the size in a picture's name; the address where it names none."""
    name = urlsplit(url).path.rstrip("/").split("/")[-1].casefold()
    return re.sub(r"[-_]\d+x\d+(?=\.)|-scaled(?=\.)", "", name) or url


def entry_key(text: str) -> str:
    """A list's entry for comparing: letters and figures without a number before them."""
    return re.sub(r"[^\w]+|^\d+", "", folded(text))
