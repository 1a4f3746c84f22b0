"""Numbers, amounts and ratings, read by the page's locale. None for what cannot be read without guessing."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from babel import Locale
from babel.languages import get_official_languages
from babel.numbers import NumberFormatError, get_decimal_symbol, parse_decimal

from shoal.agent.read.values.currencies import CODE, CURRENCY_SIGNS, currency_codes, read_currency
from shoal.agent.read.values.locales import locale_of
from shoal.agent.read.values.phrases import fold, squash
from shoal.agent.read.word_lists.value_words import FORMERLY, OUT_OF, STARS

_SPACES = " \u00a0\u202f\u2009"
_NUMBER = re.compile(
    rf"(?<![\w.,])[-−+]?(?:\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?!\d)(?:[.,]\d{{1,2}}(?!\d))?|\d+(?:[.,]\d+)*)"
)
_PARTS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64})
"""Denominators into which people part a measure: `12/25` behind a number is a day or a card's month."""
_NO_WHOLE = re.compile(r"(?<![\w.,])([.,])(?=\d)")
"""A decimal sign without a figure before it: `$.99`, `€ ,89`."""
_FRACTION = re.compile(
    r"(?<![\w.,])(?:(\d{1,3})[ \u2009]?|(?<!\d[ \u2009]))([¼-¾⅐-⅞])"
    r"|(?<![\d/.,])(\d{1,3})[ -]([1-9]\d?)[/⁄](\d{1,2})(?![\d/])"
)
"""A part of one as a sign, with or without a whole number, or in figures behind a whole number."""
_NO_FRACTION = re.compile(
    r"(?<!\d)(?:\d{1,20}[ \u2009-]?)?[¼-¾⅐-⅟↉]|\d{1,4}⁄\d{1,4}|(?<!\d)\d{1,20}[ -]\d{1,2}[/⁄]\d{1,2}(?![\d/])"
)
"""Texts that may be a fraction or not, as the issue `2024 3/4`: no number is read of them."""
_WIDE = str.maketrans("０１２３４５６７８９，．", "0123456789,.")
"""Figures and signs that are as wide as a character of Chinese or Japanese."""
_INDIAN = re.compile(r"-?\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
"""Thousands in lakhs: `1,29,900`."""
_SIGN = "|".join(map(re.escape, CURRENCY_SIGNS))
_DAY = re.compile(
    r"(?<![\d/.,])\d{1,2}/(?:\d{1,2}/(?:\d{4}|\d\d)(?![\d/.,])"
    rf"|(?:\d{{4}}|\d{{1,2}})(?![\d/.,]| ?(?:{_SIGN}|[A-Z]{{3}}(?![A-Z]))(?! ?\d)))"
)
"""A day in figures; a month, or a day without its year, that no currency of its own stands behind."""
_FURTHER = re.compile(r"\s{0,2}[/.-]\s?\d")
"""The rest of a day behind its first figures."""
_SIGN_INSIDE = re.compile(rf"(\d) ?({_SIGN})(\d{{2}})(?!\d)|^(\d[\d.,]*) ?({_SIGN}) (\d{{2}})$")
"""A currency's sign in the place of the decimal sign: `29€99`, and, as all that is said, `5 € 90`."""
_UNCLEAR = re.compile(r"(?<!\d)\d{1,3}[.,]\d{3}(?!\d)")
"""A separator before three digits. Only for it is a price's currency of use, which takes long to read."""
_MINOR = re.compile(r"(\d{1,2}) ?(?:¢|cents?|ct|p)", re.IGNORECASE)
"""An amount in hundredths of the currency."""
_GLUED = re.compile(r"\d+(?:[.,'’]\d+)*")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]{1,6}$")
_FIGURES_OF_CODE = 8
"""Figures from which those behind letters are a code's."""
_PERCENT = re.compile(r"(?<!\d)\d+(?:[.,]\d+)?\s*%")
_SCALED = re.compile(
    r"(?<!\d)\d{1,3}(?:[.,]\d+)?[kKMB]\b|\d[eE][+-]?\d"
    r"|\d\s*(?i:(?:bn|mn|mio|mrd|tsd|lakh|crore|hundred|dozen)\b"
    r"|(?:thousand|tausend|million|milion|millon|milliard|billion)[a-z]*\b)"
)
"""A number that is more than its digits: `1.2k`, `3 million`, `1e5`; but `2700K` is a colour's temperature."""
_SEVERAL = re.compile(r"\b\d+\s+(?:for|fur|pour|por|za|per|voor)\s+[^\w\s]?\s?\d")
"""The price of several: `3 for $10`."""
_DASH_CENTS = re.compile(r"(\d)[.,][-–—]+")


def number_tokens(text: str) -> list[str]:
    """The distinct numbers written in `text`, percentages left out when others are there."""
    plain = _DASH_CENTS.sub(r"\1", text)
    tokens = list(dict.fromkeys(_NUMBER.findall(_PERCENT.sub(" ", plain))))
    tokens = tokens or list(dict.fromkeys(_NUMBER.findall(plain)))
    return tokens or list(dict.fromkeys(each[0] for each in _GLUED.finditer(plain) if not _is_of_code(each)))


def _is_of_code(figures: re.Match[str]) -> bool:
    """True for the many figures of a code, `PL6541215450`: letters that name no currency stand right before them."""
    before = _LETTERS_BEFORE.search(figures.string[max(0, figures.start() - 6) : figures.start()])
    long = figures[0].isdigit() and len(figures[0]) >= _FIGURES_OF_CODE
    return long and before is not None and before[0] not in CURRENCY_SIGNS and before[0] not in currency_codes()


def decimal_of(token: str, lang: str = "", *, price: bool = False, currency: str = "") -> Decimal | None:
    """The number that `token` writes; None where that is not clear.

    With both separators the last one is the decimal sign. One alone, before exactly three digits, is read by the page's
    locale. In a price it groups thousands, unless it is the decimal sign where the currency is at home: `£3.355`.
    `1 299` and `1'299` are grouped.

    Args:
        currency: ISO 4217 code, where one is known.
    """
    bare = token.replace("−", "-").lstrip("+")
    bare = re.sub(rf"[{_SPACES}'’]", "", bare)
    if _INDIAN.fullmatch(bare):
        return Decimal(bare.replace(",", ""))
    dots, commas = bare.count("."), bare.count(",")
    if dots and commas:
        decimal_sign = "." if bare.rfind(".") > bare.rfind(",") else ","
        if bare.count(decimal_sign) > 1:
            return None
    elif dots > 1 or commas > 1:
        decimal_sign = ""
        if not re.fullmatch(r"-?\d{1,3}([.,]\d{3})+", bare):
            return None
    elif dots or commas:
        separator = "." if dots else ","
        decimal_sign = _lone_separator(bare, separator, lang, price)
        if price and not decimal_sign and _is_decimal_at_home(separator, currency):
            if not _is_decimal(separator, locale_of(lang)):
                return None
            decimal_sign = separator
    else:
        decimal_sign = ""
    plain = "".join("." if sign == decimal_sign else sign for sign in bare if sign not in ".," or sign == decimal_sign)
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def _lone_separator(bare: str, sign: str, lang: str, price: bool) -> str:
    """The decimal sign of a number with one separator: `sign`, or "" when it groups thousands."""
    if not re.fullmatch(r"-?[1-9]\d{0,2}[.,]\d{3}", bare):
        return sign
    if price:
        return ""
    locale = locale_of(lang)
    if locale is not None:
        try:
            return "" if parse_decimal(bare, locale=locale, strict=True) == bare_digits(bare) else sign
        except NumberFormatError:
            return sign
    return "" if sign == "," else sign


def _is_decimal_at_home(sign: str, currency: str) -> bool:
    """Return whether a sign separates decimals where a currency is at home: its code begins with that country's."""
    territory = currency[:2]
    languages = get_official_languages(territory, de_facto=True) if territory else ()
    locales = [locale for language in languages if (locale := locale_of(f"{language}-{territory}")) is not None]
    return bool(locales) and all(_is_decimal(sign, locale) for locale in locales)


def _is_decimal(sign: str, locale: Locale | None) -> bool:
    return locale is not None and get_decimal_symbol(locale) == sign


def bare_digits(text: str) -> Decimal:
    """The digits of `text` as one whole number, its sign kept."""
    return Decimal(re.sub(r"[.,]", "", text))


def read_number(text: str, lang: str = "", *, price: bool = False) -> Decimal | None:
    """The one number in `text`; None when there is none or more than one, or when words make it another."""
    if _SCALED.search(text):
        return None
    text = _written_out(text)
    if _NO_FRACTION.search(text):
        return None
    values = {value for token in number_tokens(text) if (value := decimal_of(token, lang, price=price)) is not None}
    return values.pop() if len(values) == 1 else None


def read_price(text: str, lang: str = "", parts: tuple[str, ...] = ()) -> Decimal | None:
    """The one amount in `text`: `1.299,00 €`, `1 299 Kč`, `49,-`, or split over `parts` (`1,299` and `00`)."""
    if len(parts) > 1:
        joined = _split_price(parts, lang)
        if joined is not None:
            return joined
    if _RANGE.search(text) or _SCALED.search(text) or _SEVERAL.search(fold(text)):
        return None
    if minor := _MINOR.fullmatch(text.strip()):
        return Decimal(minor.group(1)) / 100
    if "¢" in text:
        return None
    if _DAY.search(text):
        if _FRACTION.search(text) and fractions_as_decimals(text) != text:
            return None  # 20 1/2 is half a euro more, or the first of February
        text = _DAY.sub(" ", text)
    currency = (read_currency(text, lang) or "") if _UNCLEAR.search(text) else ""
    text = _SIGN_INSIDE.sub(_sign_after, _NO_FRACTION.sub(" ", _written_out(text)).strip())
    tokens = number_tokens(text)
    if len(tokens) > 1:
        tokens = [token for token in tokens if _near_currency(token, text)]
        tokens = [token for token in tokens if not _formerly(token, text)] or tokens
    values = {
        value for token in tokens if (value := decimal_of(token, lang, price=True, currency=currency)) is not None
    }
    return values.pop() if len(values) == 1 else None


def _written_out(text: str) -> str:
    """`text` with fractions and parts of one as decimals, and figures of one width."""
    return _NO_WHOLE.sub(r"0\1", fractions_as_decimals(text.translate(_WIDE)))


def fractions_as_decimals(text: str, *, rounded: bool = False) -> str:
    """`text` with `½`, `1½` and `1 1/2` as 0.5 and 1.5; a fraction in figures without a whole number stays.

    Args:
        rounded: thirds as well, which no decimal states exactly.
    """
    return _FRACTION.sub(lambda match: _as_decimal(match, rounded=rounded), text)


def _as_decimal(match: re.Match[str], *, rounded: bool) -> str:
    if match[2]:
        part = Fraction(unicodedata.numeric(match[2])).limit_denominator(100)
    elif int(match[4]) < int(match[5]) and int(match[5]) in _PARTS:
        part = Fraction(int(match[4]), int(match[5]))
    else:
        return match.group()
    if not rounded and 10**8 % part.denominator:
        return match.group()
    return f"{float(int(match[1] or match[3] or 0) + part):.8f}"  # eight figures: three might be thousands


def _sign_after(match: re.Match[str]) -> str:
    whole, sign, rest = match.group(1, 2, 3) if match.group(1) else match.group(4, 5, 6)
    return f"{whole}.{rest} {sign}" if "." not in whole and "," not in whole else match.group()


def _split_price(parts: tuple[str, ...], lang: str) -> Decimal | None:
    whole = ""
    for place, part in enumerate(parts):
        digits = part.strip().strip("".join(CURRENCY_SIGNS) + _SPACES)
        if re.fullmatch(r"\d[\d.,'’\u00a0\u202f ]*[.,]\d{2}", digits):
            return decimal_of(digits, lang, price=True)
        if whole and re.fullmatch(r"[.,]?\d{2}", digits):
            if _FURTHER.match("".join(parts[place + 1 :])):
                return None  # a day: `20`, `12`, `/25`
            return decimal_of(re.sub(r"\D", "", whole) + "." + digits[-2:])
        if re.fullmatch(r"\d[\d.,'’\u00a0\u202f ]*", digits):
            if whole:
                return None
            whole = digits
        elif digits not in ("", ".", ",", "-"):
            return None
    return None


def _formerly(token: str, text: str) -> bool:
    """Return whether the words right before the amount say that it is not the one asked now."""
    since = re.split(r"\d", text[: text.find(token)])[-1]  # not what is said of an earlier amount
    words = re.sub(r"[^a-z ]+", " ", fold(since)).split()
    return any(" ".join(words[-count:]) in _FORMER for count in (1, 2, 3) if len(words) >= count)


def _near_currency(token: str, text: str) -> bool:
    at = text.find(token)
    around = text[max(0, at - 5) : at] + " " + text[at + len(token) : at + len(token) + 5]
    return any(sign in around for sign in CURRENCY_SIGNS) or bool(CODE.search(around))


def read_rating(text: str, lang: str = "") -> Decimal | None:
    """The rating that `text` states: `4.5 out of 5`, `4,5 von 5 Sternen`, `★★★★☆`, `4.5`."""
    text = text[:_LONGEST]
    filled = text.count("★") + text.count("⭐")
    if filled and not re.search(r"\d", text):
        return Decimal(filled) if filled + text.count("☆") <= 10 else None
    folded = fold(text)
    scaled = re.search(rf"(\d+(?:[.,]\d+)?)\s*(?:{'|'.join(map(re.escape, OUT_OF))})\s*(\d+)\b", folded)
    if scaled:
        value = decimal_of(scaled.group(1))
        return value if value is not None and value <= int(scaled.group(2)) else None  # 18/10 is steel
    starred = re.search(rf"(\d+(?:[.,]\d+)?)[\s-]*(?:{'|'.join(STARS)}|★|⭐)", folded)
    if starred:
        return decimal_of(starred.group(1))
    if "%" in text:
        return None
    bare = _BRACKETS.sub(" ", text)
    if re.search(r"\d\s+[^\W\d_]{2,}", bare):
        return None  # "19 votes" counts something else
    value = read_number(bare, lang)
    return value if value is not None and 0 <= value <= _MOST_STARS else None


_MOST_STARS = 10
_LONGEST = 2_000
"""Characters of a text in which a rating is looked for: the time for a text of digits grows with their square."""
_FORMER = frozenset(squash(text) for text in FORMERLY)
_RANGE = re.compile(
    r"\d[^\w(]{0,4}\s(?:-|–|—|to|bis|a|à|až|till)\s[^\w(]{0,3}\d|\d[€$£]?\s?–\s?[€$£]?\d", re.IGNORECASE
)
_BRACKETS = re.compile(r"\([^)]{0,1000}\)")
_RATING_SHAPE = re.compile(
    rf"(?:^|\s)\d+(?:[.,]\d+)?\s*(?:{'|'.join(word for word in OUT_OF if word != '/')})\s*(?:5|10)\b"
    rf"|[★⭐☆]{{3,}}|\d\s*(?:{'|'.join(STARS)})\b"
)


def looks_like_rating(text: str) -> bool:
    """Return whether `text` is a rating by its form alone."""
    return len(text) <= 80 and bool(_RATING_SHAPE.search(fold(text)))
