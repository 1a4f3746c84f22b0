"""Pages as visitors and crawlers see them: lists that lead on, product pages that say what the truth says."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import extruct
import pypdf
import pytest
from lxml import html
from PIL import Image
from protego import Protego
from starlette.testclient import TestClient

Truth = list[dict[str, Any]]


def text_of(element: html.HtmlElement) -> str:
    """The text as a person reads it, with single blanks."""
    return re.sub(r"\s+", " ", str(element.text_content()).replace("\u00a0", " ")).strip()


def classed(page: html.HtmlElement, name: str) -> list[html.HtmlElement]:
    """The elements that carry the class."""
    found: list[html.HtmlElement] = page.xpath(f"//*[contains(concat(' ', @class, ' '), ' {name} ')]")
    return found


def facts_of(page: str) -> html.HtmlElement:
    """The part of a product page that is about the product itself."""
    return classed(html.fromstring(page), "facts")[0]


@pytest.fixture(scope="module")
def product_pages(browsing: TestClient, truth: Truth) -> dict[str, str]:
    """The pages of all products that are sold, by path."""
    return {p["path"]: browsing.get(p["path"]).text for p in truth if not p["discontinued"]}


def test_every_product_page_states_the_truth_in_words(truth: Truth, product_pages: dict[str, str]) -> None:
    for product in truth:
        if product["discontinued"]:
            continue
        page = product_pages[product["path"]]
        facts = facts_of(page)
        words = text_of(facts)
        assert text_of(facts.xpath(".//h1")[0]) == product["name"]
        assert product["stock_text"] in words
        assert (product["sku"] in page) if product["sku"] else ("SKU" not in words and "number" not in words.lower())
        price = product["price_text"].replace("\u00a0", " ")
        if product["markup"] == "split":
            assert price.replace(".", "") in words.replace(" ", "")
        else:
            assert price in words
        rating_shown = (
            product["rating_text"] in page if product["rating"] else "rating" not in html.tostring(facts).decode()
        )
        assert rating_shown, product["path"]


def test_product_pages_weigh_about_thirty_kilobytes(product_pages: dict[str, str]) -> None:
    sizes = [len(page.encode()) for page in product_pages.values()]
    assert min(sizes) > 25_000 and max(sizes) < 34_000


def test_json_ld_and_microdata_agree_with_the_truth(truth: Truth, product_pages: dict[str, str]) -> None:
    seen = {"json-ld": 0, "microdata": 0}
    for product in truth:
        if product["discontinued"]:
            continue
        found = extruct.extract(product_pages[product["path"]], syntaxes=["json-ld", "microdata"], uniform=True)
        for syntax in seen:
            said = [item for item in found[syntax] if item.get("@type") == "Product"]
            expected = product["json_ld"] if syntax == "json-ld" else product["markup"] == "microdata"
            assert len(said) == int(expected)
            if said:
                seen[syntax] += 1
                assert said[0]["name"] == product["name"]
                assert float(said[0]["offers"]["price"]) == product["price"]
                assert said[0]["offers"]["priceCurrency"] == product["currency"]
                assert said[0].get("sku") == product["sku"]
                rating = said[0].get("aggregateRating", {}).get("ratingValue")
                assert (rating and float(rating)) == product["rating"]
    assert min(seen.values()) > 30


def test_every_picture_of_a_page_is_a_real_one(browsing: TestClient, product_pages: dict[str, str]) -> None:
    page = html.fromstring(next(iter(product_pages.values())))
    sources = page.xpath("//div[@class='gallery']//img/@src")
    assert len(sources) in (4, 5)
    for source in sources:
        answer = browsing.get(source)
        assert answer.headers["content-type"] == "image/jpeg"
        assert Image.open(io.BytesIO(answer.content)).size in ((480, 480), (240, 240))
    assert browsing.get(sources[0].replace("/1.jpg", "/6.jpg")).status_code == 404


def test_nothing_is_loaded_from_elsewhere(browsing: TestClient, product_pages: dict[str, str]) -> None:
    for page in (*product_pages.values(), browsing.get("/").text, browsing.get("/static/shop.css").text):
        assert not re.search(r"(?:src|href|url\()\s*=?\s*[\"']?(?:https?:)?//(?!schema\.org)", page)


def list_links(page: html.HtmlElement) -> list[str]:
    """The links of a list's own cards, in order; blocks beside the list do not count."""
    links = page.xpath(
        "//ul[@class='tiles']//a[@class='tile-link'] | //div[@class='entries']//h3/a | //table[@class='rows']//td/a"
    )
    return [link.get("href") for link in links]


def onward_link(page: html.HtmlElement, style: str) -> str | None:
    """The link to the next page, found in the way that the category offers."""
    if style == "rel":
        found = page.xpath("//a[@rel='next']")
    elif style == "text":
        found = [a for a in page.xpath("//a") if text_of(a) in ("Next ›", "Weiter ›")]
    else:
        found = page.xpath("//a[@aria-label='Next page']")
    return found[0].get("href") if found else None


@pytest.mark.parametrize(
    ("category", "style"),
    [("power-tools", "rel"), ("kitchen", "text"), ("lighting", "path"), ("garten", "text"), ("office", "path")],
)
def test_following_next_shows_each_product_of_a_category_once(
    browsing: TestClient, truth: Truth, category: str, style: str
) -> None:
    path: str | None = f"/c/{category}"
    seen: list[str] = []
    pages = 0
    while path:
        page = html.fromstring(browsing.get(path).text)
        seen += list_links(page)
        pages += 1
        path = onward_link(page, style)
    assert seen == [product["path"] for product in truth if product["category"] == category]
    assert pages == 3


def test_numbered_pages_lead_to_the_same_lists_as_next(browsing: TestClient) -> None:
    first = html.fromstring(browsing.get("/all").text)
    assert [text_of(a) for a in first.xpath("//nav[@class='pager']/*")] == ["1", "2", "…", "22", "Next ›"]
    assert len(list_links(html.fromstring(browsing.get("/all?page=22").text))) == 12
    for wrong in ("/all?page=23", "/all?page=0", "/all?page=x", "/c/lighting/page/9", "/c/nothing"):
        assert browsing.get(wrong).status_code == 404
    assert browsing.get("/all?sort=luck").status_code == 400


def test_the_endless_list_comes_in_pieces_until_it_says_that_it_ends(browsing: TestClient, truth: Truth) -> None:
    page = html.fromstring(browsing.get("/c/bicycles").text)
    assert not classed(page, "pager")
    seen = list_links(page)
    number, more = 1, "yes"
    while more == "yes":
        number += 1
        answer = browsing.get(f"/c/bicycles/more?page={number}")
        seen += [a.get("href") for a in classed(html.fromstring(f"<ul>{answer.text}</ul>"), "tile-link")]
        more = answer.headers["x-more"]
    assert seen == [product["path"] for product in truth if product["category"] == "bicycles"]


def test_lists_sort_and_filter(browsing: TestClient, truth: Truth) -> None:
    prices = {product["path"]: product for product in truth}
    page = html.fromstring(browsing.get("/c/audio?sort=price&brand=Sonare&in_stock=1").text)
    links = list_links(page)
    assert links and all(prices[link]["brand"] == "Sonare" and prices[link]["in_stock"] for link in links)
    assert [prices[link]["price"] for link in links] == sorted(prices[link]["price"] for link in links)


def test_a_discontinued_product_is_listed_but_explains_that_it_is_gone(browsing: TestClient, truth: Truth) -> None:
    gone = [product for product in truth if product["discontinued"]]
    assert gone
    for product in gone:
        answer = browsing.get(product["path"])
        assert answer.status_code == 404
        assert "discontinued" in answer.text or "gibt es nicht mehr" in answer.text
        assert product["in_stock"] is False


def test_versions_are_not_on_the_page_until_asked_for(
    browsing: TestClient, truth: Truth, product_pages: dict[str, str]
) -> None:
    product = next(p for p in truth if p["versions"] and not p["discontinued"])
    more = browsing.get(f"{product['path']}/versions").text
    for version in product["versions"]:
        assert version["sku"] in more
        assert version["sku"] not in product_pages[product["path"]]


def test_search_finds_by_words_and_says_when_nothing_fits(browsing: TestClient) -> None:
    page = html.fromstring(browsing.get("/search?q=espresso").text)
    links = list_links(page)
    assert links and all("espresso" in link for link in links)
    assert "Nothing was found" in browsing.get("/search?q=submarine").text
    assert all("espresso" in hit["path"] for hit in browsing.get("/suggest?q=espresso").json())


def test_pdf_files_can_be_read(browsing: TestClient, truth: Truth) -> None:
    product = next(p for p in truth if p["markup"] == "german" and p["sku"])
    answer = browsing.get(f"{product['path']}/datasheet.pdf")
    assert answer.headers["content-type"] == "application/pdf"
    assert "attachment" in answer.headers["content-disposition"]
    text = pypdf.PdfReader(io.BytesIO(answer.content), strict=True).pages[0].extract_text()
    assert product["name"] in text and product["sku"] in text
    brochure = pypdf.PdfReader(io.BytesIO(browsing.get("/downloads/brochure-outdoor.pdf").content), strict=True)
    assert len(brochure.pages) == 3
    assert browsing.get("/downloads/brochure-boats.pdf").status_code == 404


def test_the_price_list_has_a_row_for_every_product_sold(browsing: TestClient, truth: Truth) -> None:
    rows = list(csv.DictReader(io.StringIO(browsing.get("/downloads/price-list.csv").text)))
    sold = [product for product in truth if not product["discontinued"]]
    assert [(row["name"], float(row["price"])) for row in rows] == [(p["name"], p["price"]) for p in sold]


def test_robots_txt_closes_an_area_and_slows_one_agent(browsing: TestClient) -> None:
    rules = Protego.parse(browsing.get("/robots.txt").text)
    assert rules.can_fetch("/p/anything", "SomeBot")
    assert not rules.can_fetch("/warehouse/A", "SomeBot")
    assert not rules.can_fetch("/", "UnwelcomeBot")
    assert (rules.crawl_delay("CarefulBot"), rules.crawl_delay("SomeBot")) == (2, None)
    assert browsing.get("/warehouse/A").status_code == 200


@pytest.mark.parametrize(
    ("here", "there"),
    [("http://127.0.0.1:8800", "http://localhost:8800"), ("http://localhost:8800", "http://127.0.0.1:8800")],
)
def test_the_frame_with_pickup_points_comes_from_another_origin(browsing: TestClient, here: str, there: str) -> None:
    page = html.fromstring(browsing.get(f"{here}/service/pickup").text)
    assert page.xpath("//iframe/@src") == [f"{there}/service/pickup/frame"]


def test_the_cookie_banner_goes_once_a_choice_is_made(client: TestClient) -> None:
    assert 'class="consent"' in client.get("/").text
    assert client.post("/consent", data={"choice": "needed"}, headers={"accept": "application/json"}).status_code == 204
    assert 'class="consent"' not in client.get("/").text


@pytest.mark.parametrize(
    "path",
    ["/", "/downloads", "/service/pickup/frame", "/service/delivery", "/info/about", "/basket", "/login", "/quote",
     "/c/audio/size-guide", "/sitemap.xml", "/static/shop.js", "/static/quote.js", "/static/delivery.js"],
)  # fmt: skip
def test_every_other_page_is_there(browsing: TestClient, path: str) -> None:
    assert browsing.get(path).status_code == 200


def test_no_link_of_the_front_page_is_broken(browsing: TestClient) -> None:
    links = set(html.fromstring(browsing.get("/").text).xpath("//a/@href"))
    broken = [link for link in links if link.startswith("/") and browsing.get(link).status_code != 200]
    assert len(links) > 100 and broken == []
