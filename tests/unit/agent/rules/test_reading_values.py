"""Numbers, prices, currencies, dates, stock and ratings as pages write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.read.values.conversion import read_boolean
from shoal.agent.read.values.currencies import read_currency
from shoal.agent.read.values.dates import read_date
from shoal.agent.read.values.numbers import read_number, read_price, read_rating
from shoal.agent.read.values.stock import read_stock, stock_line


@pytest.mark.parametrize(
    ("text", "lang", "parts", "amount"),
    [
        ("1.299,00 €", "de", (), "1299.00"),
        ("1,299.00", "en", (), "1299.00"),
        ("1 299 Kč", "cs", (), "1299"),
        ("1\u202f299,50 €", "fr", (), "1299.50"),
        ("CHF 1'299.50", "de-CH", (), "1299.50"),
        ("49,-", "de", (), "49"),
        ("1.299", "en", (), "1299"),
        ("$1,29900", "en", ("$", "1,299", "00"), "1299.00"),
        ("1.299,00€", "de", ("1.299", ",", "00", "€"), "1299.00"),
        ("19,99 € inkl. 19 % MwSt", "de", (), "19.99"),
        ("£12.00 incl. VAT, before £15.00", "en", (), "12.00"),
        ("statt 59,00 € 49,00 €", "de", (), "49.00"),
        ("€ ,89", "nl", (), "0.89"),
        ("$.99", "en", (), "0.99"),
        ("£3.355", "en", (), "3.355"),
        ("$3.299", "en", (), "3.299"),
        ("€1.299", "en", (), "1299"),
        ("29€99", "fr", (), "29.99"),
        ("5 € 90", "fr", (), "5.90"),
        ("₹1,29,900", "en", (), "129900"),
        ("１，２８０円", "ja", (), "1280"),
        ("CHF 1'299.–", "de", (), "1299"),
        ("1 299,00 kr", "sv", (), "1299.00"),
        ("99p", "en", (), "0.99"),
        ("79 ¢", "en", (), "0.79"),
        ("20 1/2 €", "de", (), "20.5"),
        ("$20 12/25", "en", (), "20"),
        ("$20 on 12/25/26", "en", (), "20"),
        ("5/6/2024 $12", "en", (), "12"),
        ("5/6 $12", "en", (), "12"),
        ("12/25 € 20", "en", (), "20"),
        ("$20 12/25", "en", ("$", "20", "12", "/25"), "20"),
    ],
)
def test_prices(text: str, lang: str, parts: tuple[str, ...], amount: str) -> None:
    assert read_price(text, lang, parts) == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    [
        "$5 $7",
        "from 5 to 9 €",
        "call us",
        "",
        "2 x 3",
        "$1.2k",
        "€ 3 Mio.",
        "3 for $10",
        "3 für 10 €",
        "12€ 11€",
        "9 ¢ off",
        "€ 20 1/2",
    ],
)
def test_no_price_is_guessed(text: str) -> None:
    assert read_price(text, "en") is None


def test_a_lone_separator_of_a_price_is_no_guess_where_page_and_currency_differ() -> None:
    assert read_price("£3.355", "de") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1½ cups", "1.5"),
        ("1 1/2 cups", "1.5"),
        ("1⅛ cups", "1.125"),
        ("2 ¾ hours", "2.75"),
        ("½", "0.5"),
        (".5 kg", "0.5"),
        ("1,29,900 km", "129900"),
    ],
)
def test_fractions_and_lakhs(text: str, number: str) -> None:
    assert read_number(text, "en") == Decimal(number)


@pytest.mark.parametrize(
    "text", ["2024 3/4", "12345678901½", "2 0/5", "3 3/3", "0/3", "1234½", "2⁄2", "5 ⅟ 5", "½ 3/4"]
)
def test_what_may_be_no_fraction_is_no_number(text: str) -> None:
    assert read_number(text, "en") is None


@pytest.mark.parametrize("text", ["2024 3/4 €", "12345678901½ €", "2 0/5 €", "1234½ €", "1234 ½ €"])
def test_what_may_be_no_fraction_is_no_price(text: str) -> None:
    assert read_price(text, "en") is None


@pytest.mark.parametrize("text", ["1 1/3 cups", "⅓ cup", "1⅓ cups"])
def test_no_fraction_is_rounded_or_cut(text: str) -> None:
    assert read_number(text, "en") is None


@given(
    st.integers(0, 10**7),
    st.sampled_from([("de", ".", ","), ("en", ",", "."), ("cs", " ", ","), ("fr", "\u202f", ",")]),
)
def test_every_grouped_amount_is_read_back(cents: int, style: tuple[str, str, str]) -> None:
    lang, group, decimal = style
    whole = f"{cents // 100:,}".replace(",", group)
    assert read_price(f"{whole}{decimal}{cents % 100:02d} €", lang) == Decimal(cents) / 100


@given(st.text(max_size=40), st.sampled_from(["", "en", "de", "xx-YY", "en_GB"]))
def test_no_text_breaks_the_readers(text: str, lang: str) -> None:
    read_price(text, lang)
    read_number(text, lang)
    read_rating(text, lang)
    read_currency(text, lang)
    read_stock(text)
    stock_line(text)
    read_boolean(text)


def test_a_lone_separator_before_three_digits_is_read_by_the_locale() -> None:
    assert read_number("1.299 kg", "de") == 1299
    assert read_number("2700K", "en") == 2700
    assert read_number("5 m", "en") == 5
    for text in ("1.2k", "12K views", "3 million", "1e5", "4,5 Mrd.", "2 dozen"):
        assert read_number(text, "en") is None, f"{text} is more than its digits"
    assert read_number("1.299 kg", "en") == Decimal("1.299")
    assert read_number("12 x 5 cm", "en") is None


@pytest.mark.parametrize(
    ("text", "lang", "code"),
    [
        ("1.299,00 €", "de", "EUR"),
        ("US$ 5", "de", "USD"),
        ("$5", "en-AU", "AUD"),
        ("$5", "en", "USD"),
        ("$5", "en-GB", None),
        ("$5", "", None),
        ("50 kr", "sv", "SEK"),
        ("¥500", "ja", "JPY"),
        ("12 PLN", "", "PLN"),
        ("gbp", "", "GBP"),
        ("5", "en", None),
    ],
)
def test_currencies(text: str, lang: str, code: str | None) -> None:
    assert read_currency(text, lang) == code


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("https://schema.org/InStock", "in"),
        ("OutOfStock", "out"),
        ("In stock", "in"),
        ("Only 2 left", "in"),
        ("0 in stock", "out"),
        ("Ships in 3 days", "in"),
        ("Back in stock in about 3 weeks", "out"),
        ("nicht lieferbar", "out"),
        ("Sofort lieferbar", "in"),
        ("Ausverkauft", "out"),
        ("Rupture de stock", "out"),
        ("Skladem > 5 ks", "in"),
        ("Pre-order now", "preorder"),
        ("A lovely lamp", None),
        ("Not currently available online", "out"),
        ("Derzeit leider nicht mehr lieferbar", "out"),
        ("Ikke tilgængelig", None),
        ("Not only available in red", "in"),
        ("No minimum order. Available now", "in"),
        ("No refunds, in stock", "in"),
        ("Available from 3 May", None),
        ("In stock again soon", None),
        ("Lieferbar ab 12.05.2027", None),
        ("Lieferbar ab Lager", "in"),
        ("Available from £5", "in"),
        ("Available in store from today", "in"),
    ],
)
def test_stock(text: str, state: str | None) -> None:
    assert read_stock(text) == state


@pytest.mark.parametrize(
    "text", ["Available from March 12", "Available again soon", "Lieferbar ab 3. Mai", "Disponible à partir du 3 mai"]
)
def test_what_is_to_be_had_later_is_not_said_to_be_in_stock(text: str) -> None:
    assert read_stock(text) is None


def test_a_line_without_a_label_has_to_be_about_stock() -> None:
    assert stock_line("In stock, ready to ship") == "in"
    assert stock_line("Lieferbar in 7 Tagen") == "in"
    assert stock_line("Available in three colours") is None
    assert stock_line("Tell me when it is available again, please") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.5 out of 5", "4.5"),
        ("4,5 von 5 Sternen", "4.5"),
        ("★★★★☆", "4"),
        ("Rated 4.5/5", "4.5"),
        ("4.5 (123)", "4.5"),
        ("90%", None),
        ("★★★★★ 19 listeners", None),
        ("stainless steel 18/10", None),
    ],
)
def test_ratings(text: str, value: str | None) -> None:
    assert read_rating(text) == (Decimal(value) if value else None)


@pytest.mark.parametrize(
    ("text", "lang", "day"),
    [
        ("3 May 2024", "en", "2024-05-03"),
        ("Published on May 3, 2024 by X", "en", "2024-05-03"),
        ("3. Mai 2024", "de", "2024-05-03"),
        ("03.04.2024", "de", "2024-04-03"),
        ("03/04/2024", "en-GB", "2024-04-03"),
        ("03/04/2024", "en-US", "2024-03-04"),
        ("03/04/2024", "en", None),
        ("25/04/2024", "en", "2024-04-25"),
        ("2024-05-03T10:00:00Z", "", "2024-05-03"),
        ("2024-13-40", "", None),
        ("three days ago", "en", None),
    ],
)
def test_dates(text: str, lang: str, day: str | None) -> None:
    assert read_date(text, lang) == day


def test_a_time_that_is_not_said_is_not_made_up() -> None:
    assert read_date("3 May 2024", "en", with_time=True) is None
    assert read_date("2024-05-03", with_time=True) is None
    assert read_date("2024-05-03 10:30", with_time=True) == "2024-05-03T10:30:00"
