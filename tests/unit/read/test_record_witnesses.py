"""Which of a page's witnesses are believed: readings of main texts, days, variants, and prices in several blocks."""

from __future__ import annotations

import json

import pytest

from tests.unit.read.pages import DAY, NUMBER, TEXT, record_of

STORY = "".join(
    f"<p>The night train left the {place} at ten, and the guard told us how {what} had been in the winter of that year."
    "</p>"
    for place, what in (
        ("coast", "long the tunnels"), ("harbour", "deep the snow"), ("plain", "quiet the stations"),
        ("valley", "slow the engines"), ("border", "cold the waiting rooms"), ("capital", "bright the lamps"),
    )
)  # fmt: skip
NOTICES = "".join(
    f"<p>{what} are needed so that this website works as it should and remembers what you chose on your last visit.</p>"
    for what in ("Necessary cookies", "Cookies of others", "Cookies that count", "Cookies of shops")
)
OTHERS = "".join(
    f"<p>Another tale of {what}, which has nothing to do with trains, and which is told elsewhere by somebody else.</p>"
    for what in ("sheep", "goats", "mills", "bees", "wells", "barns")
)

LINES = STORY.replace("<p>", "").replace("</p>", "<br><br>")
NAMES = ", ".join(f"<a href=/reader/{n}>Reader of trains {n}</a>" for n in range(60))


def page_of(*nodes: object, shown: str) -> str:
    stated = "".join(f'<script type="application/ld+json">{json.dumps(node)}</script>' for node in nodes)
    return f"<html lang=en><head>{stated}</head><body>{shown}</body></html>"


class TestAMainText:
    @pytest.mark.parametrize(
        "beside", ["", f'<div class="site-modal">{NOTICES}</div>', f'<div class="teaser">{OTHERS}</div>']
    )
    def test_is_read_without_what_stands_apart(self, beside: str) -> None:
        page = page_of(shown=f"<h1>Night trains</h1><div><div>{STORY}</div>{beside}</div>")
        body = record_of(page, title=TEXT, body=TEXT).value["body"]
        assert body.startswith("The night train left the coast") and "the lamps had been" not in body[:200]
        assert "ookies" not in body and "Another tale" not in body

    @pytest.mark.parametrize(
        "shown",
        [
            f"<div id=story>{LINES}</div>",
            f"<article>{STORY}</article><p>{NAMES}</p>",
            f"<article>{STORY}</article><div>{3 * f'<article><h2>Tales</h2>{OTHERS}</article>'}</div>",
        ],
        ids=["lines without paragraphs", "names of readers beside it", "other articles below it"],
    )
    def test_is_given_where_the_page_shows_no_longer_one(self, shown: str) -> None:
        body = record_of(page_of(shown=f"<div><h1>Night trains</h1>{shown}</div>"), title=TEXT, body=TEXT).value["body"]
        assert "The night train left the coast" in body and "the lamps had been" in body
        assert "Another tale" not in body


class TestADay:
    def article(self, shown: str, **stated: str) -> str:
        nodes = [{"@type": "Article", "headline": "Night trains", **stated}] if stated else []
        return page_of(*nodes, shown=f"<article><h1>Night trains</h1>{shown}{STORY}</article>")

    def test_in_a_line_of_its_own_is_the_pages(self) -> None:
        found = record_of(self.article("<div>March 9, 2016</div>"), title=TEXT, date=DAY, body=TEXT)
        assert found.value["date"] == "2016-03-09"

    def test_that_a_sentence_mentions_is_a_candidate(self) -> None:
        caption = (
            "Figure: the lines that were measured from the air between the coast and the border, data of 09.03.2016"
        )
        found = record_of(self.article(f"<p>{caption} and later</p>"), title=TEXT, date=DAY, body=TEXT)
        assert "date" not in found.value

    def test_is_the_one_shown_of_two_that_may_be_one_moment(self) -> None:
        page = self.article("<p class=byline-day>March 8, 2016</p>", datePublished="2016-03-09T02:10:00Z")
        page = page.replace("<head>", '<head><meta name="dc.date.issued" content="2016-03-08">')
        assert record_of(page, title=TEXT, date=DAY, body=TEXT).value["date"] == "2016-03-08"

    def test_that_differs_by_more_is_doubted(self) -> None:
        page = self.article("<p class=byline-day>March 3, 2016</p>", datePublished="2016-03-09T02:10:00Z")
        page = page.replace("<head>", '<head><meta name="dc.date.issued" content="2016-03-03">')
        assert "date" not in record_of(page, title=TEXT, date=DAY, body=TEXT).value

    @pytest.mark.parametrize(
        "page",
        [
            '<meta name="dcterms.date" content="2015-12-20"><article><h1>Night trains</h1><i class=date>27.01.2016</i>',
            '<meta name="dcterms.date" content="2015-12-20"><article><h1>Night trains</h1><p>January 27, 2016</p>'
            """<script type="application/ld+json">{"@type": "Article", "headline": "Night trains",
            "datePublished": "2016-01-27"}</script>""",
        ],
        ids=["a place", "structured data"],
    )
    def test_that_people_see_outweighs_one_of_a_meta_element_that_they_do_not(self, page: str) -> None:
        record = record_of(f"<html lang=en>{page}{STORY}</article>", title=TEXT, date=DAY, body=TEXT)
        assert (record.value["date"], record.sources["date"].sureness) == ("2016-01-27", "likely")


class TestATitle:
    @pytest.mark.parametrize(
        ("title", "shown", "name"),
        [
            ("Night trains", "<h1>Health of trains</h1><h2>Night trains</h2>", "Night trains"),
            ("Night trains_Travel_Paper", "<div class=big>Night trains</div>", "Night trains"),
            ("Paper | Night trains", "<h1><a href=/>Paper</a></h1><h2>Night trains</h2>", "Night trains"),
            ("Night trains | The Paper", "<p>Night trains</p><p>The Paper</p>", None),
            ("Night trains | The Paper", "<p><a href=/other>Night trains</a></p><p>The Paper</p>", None),
            ("Trains | The Paper", "<p>Trains</p><p>The Paper</p>", None),
        ],
        ids=["another heading above", "no heading", "the site first", "both sides shown", "a link", "a short name"],
    )
    def test_is_the_line_that_the_documents_title_says(self, title: str, shown: str, name: str | None) -> None:
        page = f"<html lang=en><head><title>{title}</title></head><body>{shown}<article>{STORY}</article>"
        assert record_of(page, title=TEXT, body=TEXT).value.get("title") == name


class TestVariants:
    def variant(self, stock: str, **more: object) -> dict[str, object]:
        offer = {"price": "7.50", "availability": f"https://schema.org/{stock}"}
        return {"@type": "Product", "name": "Blue mug", "offers": offer, **more}

    def test_are_as_available_as_the_best_of_them(self) -> None:
        page = page_of([self.variant("OutOfStock"), self.variant("InStock")], shown="<h1>Blue mug</h1>")
        assert record_of(page, name=TEXT, availability=TEXT).value["availability"] == "InStock"

    def test_are_no_variants_where_another_syntax_says_otherwise(self) -> None:
        item = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Blue mug</h1><div itemscope
            itemprop=offers itemtype="https://schema.org/Offer"><link itemprop=availability
            href="https://schema.org/InStock"></div></div>"""
        page = page_of(self.variant("OutOfStock", sku="M-7"), shown=item)
        assert "availability" not in record_of(page, name=TEXT, sku=TEXT, availability=TEXT).value


class TestShownPlaces:
    def test_a_label_of_several_names_names_one_value(self) -> None:
        page = "<h1>Blue mug</h1><p><span>make / manufacturer: <b>Clayworks</b></span></p>"
        assert record_of(page, name=TEXT, brand=TEXT).value["brand"] == "Clayworks"

    def test_a_label_of_a_name_and_another_word_is_doubted(self) -> None:
        page = "<h1>Blue mug</h1><p><span>make / finish: <b>Clayworks</b></span></p>"
        assert "brand" not in record_of(page, name=TEXT, brand=TEXT).value

    def test_texts_that_differ_by_an_apostrophe_are_one(self) -> None:
        rows = "<tr><th>Maker<td>De’Clay</table><table><tr><th>Manufacturer<td>DeClay"
        assert record_of(f"<h1>Mug</h1><table>{rows}</table>", name=TEXT, brand=TEXT).value["brand"] == "De’Clay"

    @pytest.mark.parametrize(
        ("own", "price"),
        [
            (("counter", "ribbon", "swatch"), 12.5),
            (("counter", "swatch"), None),
            (("swatch", "swatch", "swatch"), None),
        ],
    )
    def test_a_price_in_three_blocks_of_other_names_is_the_pages(
        self, own: tuple[str, ...], price: float | None
    ) -> None:
        mine = "".join(f'<div><b class="{name}-price">$12.50</b></div>' for name in own)
        other = "".join(f'<div><b class="{name}-price">$19.00</b></div>' for name in ("bought", "sims"))
        found = record_of(f"<h1>Blue mug</h1>{mine}<h2>Bought together</h2>{other}", name=TEXT, price=NUMBER)
        assert found.value.get("price") == price


class TestLabelsOfOneLine:
    @pytest.mark.parametrize("tag", ["time", "b"])
    def test_each_name_the_part_behind_them(self, tag: str) -> None:
        line = f"Published: <{tag}>May 1, 2024</{tag}> Updated: <{tag}>May 3, 2024</{tag}>"
        found = record_of(f"<h1>Night trains</h1><p>{line}</p>", published=DAY, updated=DAY)
        assert found.value == {"published": "2024-05-01", "updated": "2024-05-03"}

    def test_two_terms_in_a_row_name_one_value(self) -> None:
        terms = "<dl><dt>Wood<dt>Material<dd>Ash<dt>Handle<dd>Beech</dl>"
        found = record_of(f"<h1>Axe</h1>{terms}", wood=TEXT, material=TEXT, handle=TEXT)
        assert found.value == {"wood": "Ash", "material": "Ash", "handle": "Beech"}
