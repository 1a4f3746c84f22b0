"""Words that stand on every page of a language, and so name nothing."""

from __future__ import annotations

from functools import cache

from justext import get_stoplist

_LANGUAGES = ("English", "German", "French", "Spanish", "Italian", "Portuguese", "Dutch")
"""Those in which dates and numbers are looked up, too."""


@cache
def common_words() -> frozenset[str]:
    """The most frequent words of all these languages together, in lower case."""
    return frozenset(word.casefold() for language in _LANGUAGES for word in get_stoplist(language))
