"""Lines that name what they state: "Label: value", "Updated March 2, 2026", "By Ann Lee"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.agent.read.values.text_values import DayInText, days_in

BY = "by|von|par|por|di|door|przez|av"
"""Words before the name of an author, as a pattern."""
WROTE = (
    "posted|written|published|authored|submitted|geschrieben|verfasst|veröffentlicht|écrit|publié|rédigé|escrito"
    "|publicado|scritto|pubblicato|geschreven|geplaatst"
)
"""Words before those, as a pattern: "posted by"."""
_ROWS = re.compile(r"\n| [·•|] ")
_LINE = re.compile(r"([^:：]{2,40})\s?[:：]\s+(\S.*)|([^:：\d]{2,40})：(\S.*)", re.S)
_SEPARATOR = re.compile(r" [|·•/] ")
_MOST_PARTS = 20
_NAME = r"[A-ZÀ-Þ][\w.'’-]{0,30}"
_AUTHOR = re.compile(rf"(?:(?i:{WROTE})\s)?((?i:{BY}))\s({_NAME}(?: [\w.'’-]{{1,30}}){{0,3}} {_NAME})")
"""A name of two words at least: "By Category" sorts."""
_ON = re.compile(r"\s(?:on|am|le|el|il|op)\s{1,3}$", re.I)
_LONGEST_DATED = 60
_WORDS_BEFORE = re.compile(r"[^\W\d_]{3,20}(?: on| am| le)?\s", re.I)


def named_in_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield each label of a text's lines, or of the parts between signs, with what it names."""
    for row in _ROWS.split(text):
        named = labelled_parts(row)
        yield from named or _without_colon(row)


def labelled_parts(line: str) -> Sequence[tuple[str, str]]:
    """The label that a line begins with, and what follows it; all of them in "Price: 5 | Seller: Ann"."""
    parts = _SEPARATOR.split(line, _MOST_PARTS)
    matches = [_LINE.fullmatch(part) for part in parts]
    if not all(matches) or len(parts) > _MOST_PARTS:
        matches = [_LINE.fullmatch(line)]
    return [(match[1] or match[3], match[2] or match[4]) for match in matches if match]


def _without_colon(row: str) -> Iterator[tuple[str, str]]:
    days = days_in(row) if len(row) < _LONGEST_DATED else ()
    if (author := _AUTHOR.fullmatch(_without_day(row, days))) is not None:
        yield author[1], author[2]
    word = _WORDS_BEFORE.match(row)
    if word is not None and days and (days[0].start, days[0].end) == (word.end(), len(row)):
        yield word[0], row[word.end() :]


def _without_day(row: str, days: Sequence[DayInText]) -> str:
    """The row without its one day: "Posted by Ann Lee" of "Posted on March 2, 2026 by Ann Lee"."""
    if len(days) != 1:
        return row
    before, behind = row[: days[0].start], row[days[0].end :]
    return f"{_ON.sub(' ', before).strip()} {behind.strip()}".strip() if _ON.search(before) else row
