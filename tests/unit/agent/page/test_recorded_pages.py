"""Pages as Chromium showed them, beside what their HTML alone tells."""

from __future__ import annotations

import extruct
import pytest

from tests.recorded_pages import NAMES, raw, recorded

WITHOUT_SCRIPTS = [name for name in NAMES if name != "parts"]


@pytest.mark.parametrize("name", WITHOUT_SCRIPTS)
def test_html_alone_tells_what_a_browser_tells(name: str) -> None:
    of_browser, of_html = recorded(name), raw(name)
    both = list(zip(of_html.elements, of_browser.elements, strict=True))
    assert [(el.tag, dict(el.attrib)) for el, _ in both] == [(el.tag, dict(el.attrib)) for _, el in both]
    assert [
        of_browser.number(el) for html, el in both if of_html.is_visible(html) is not of_browser.is_visible(el)
    ] == []
    assert [of_browser.number(el) for html, el in both if of_html.layout(html) != of_browser.layout(el)] == []
    assert of_html.text() == of_browser.text()


def test_a_product_without_what_is_sold_out() -> None:
    text = recorded("product").text()
    assert "79.00 €" in text and "In stock" in text and "Height\t42 cm" in text
    assert "Sold out" not in text and "31.20" not in text and "Dry cloth" not in text


def test_a_product_s_data_is_read_by_libraries() -> None:
    page = recorded("product")
    data = extruct.extract(page.root, base_url=page.url, syntaxes=["json-ld", "microdata", "opengraph"])
    assert data["json-ld"][0]["sku"] == "LH-204"
    assert data["microdata"][0]["properties"] == {"name": "Brass desk lamp", "price": "79.00"}
    assert data["opengraph"][0]["properties"] == [("og:title", "Brass desk lamp")]


def test_rows_are_lines() -> None:
    lines = recorded("rows").text().splitlines()
    assert lines[2:5] == [
        "Day\tShip\tFrom\tTo\tFare",
        "Mon 1 Dec\tAurora\t08:15\t10:40\t18 €",
        "Borealis\t14:00\t16:25\t21 €",
    ]


def test_fields_with_their_values() -> None:
    page = recorded("form")
    values = {el.get("name"): page.value(el) for el in page.root.xpath("//input|//textarea|//select")}
    assert values["note"] == "By the\nwater" and values["place"] == "" and values["token"] == "t-1"
    assert [page.checked(el) for el in page.root.xpath("//input[@type='radio']")] == [False, True]
    assert page.text(page.root.get_element_by_id("name-error")) == ""


def test_parts_of_other_trees() -> None:
    page = recorded("parts")
    assert page.text() == "Parts\nTemperature" or "Now: 21 °C" in page.text()
    assert "12.50 €" in page.text() and "9.00" not in page.text() and "not drawn" not in page.text()
    assert "knots" not in page.text() and "counted" not in page.text()
    assert sorted(page.shadow_roots.values()) == ["closed", "open"]
    price = page.root.get_element_by_id("price")
    assert page.selector(price) == ("html > body > price-tag", "#price")
