"""One record of a page: the node that is the record, its values by type, and how sure they are."""

from __future__ import annotations

import json

import pytest

from shoal.agent.types import Reason
from tests.unit.read.pages import ADDRESS, DAY, LINES, MINUTES, NUMBER, TEXT, record_of


def json_ld(*nodes: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(node)}</script>' for node in nodes)


SOUP = {
    "@context": "https://schema.org",
    "@type": "Recipe",
    "name": "Leek soup",
    "recipeYield": "4 bowls",
    "recipeIngredient": ["2 leeks", "1 potato"],
    "prepTime": "PT10M",
    "cookTime": "PT1H",
    "image": {"@type": "ImageObject", "url": "/soup.jpg"},
    "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.6", "reviewCount": 12},
}
MUG = {"@type": "Product", "name": "Blue mug", "offers": {"price": "7.50", "priceCurrency": "EUR"}}
SHOWN = "<h1>Leek soup</h1><p>For 4 bowls</p><ul><li>2 leeks<li>1 potato</ul>"


class TestTheNodeOfTheRecord:
    def test_is_the_one_that_states_most_of_the_schema(self):
        article = {"@type": "Article", "headline": "Leek soup", "author": "A. Cook", "datePublished": "2024-01-02"}
        page = json_ld(article, SOUP) + SHOWN
        assert record_of(page, title=TEXT, servings=TEXT, ingredients=LINES).value == {
            "title": "Leek soup",
            "servings": "4 bowls",
            "ingredients": ["2 leeks", "1 potato"],
        }

    def test_is_found_in_a_graph_and_followed_by_its_ids(self):
        graph = {
            "@graph": [
                {"@type": "Article", "@id": "#a", "headline": "Night trains", "author": {"@id": "#p"}},
                {"@type": "Person", "@id": "#p", "name": "Ada Rail"},
            ]
        }
        page = json_ld(graph) + "<h1>Night trains</h1><p>By Ada Rail</p>"
        assert record_of(page, title=TEXT, author=TEXT).value == {"title": "Night trains", "author": "Ada Rail"}

    def test_may_be_microdata(self):
        page = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Blue mug</h1>
            <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
            <span itemprop="price" content="7.50">7,50 €</span>
            <meta itemprop="priceCurrency" content="EUR"></div></div>"""
        assert record_of(page, name=TEXT, price=NUMBER, currency=TEXT).value == {
            "name": "Blue mug",
            "price": 7.5,
            "currency": "EUR",
        }

    def test_is_read_though_its_json_has_comments_and_commas_too_many(self):
        page = (
            """<script type="application/ld+json">/*<![CDATA[*/ {"@type": "Recipe", "name": "Leek
            soup", "recipeYield": "4 bowls",} /*]]>*/</script>"""
            + SHOWN
        )
        assert record_of(page, title=TEXT, servings=TEXT).value["servings"] == "4 bowls"


class TestValues:
    def test_are_read_in_the_unit_that_is_asked_for(self):
        page = json_ld({**SOUP, "totalTime": "PT1H10M"}) + SHOWN
        assert record_of(page, total_time=MINUTES, title=TEXT).value["total_time"] == 70

    def test_a_total_that_is_not_stated_is_the_sum_of_the_times(self):
        assert record_of(json_ld(SOUP) + SHOWN, total_time=MINUTES, title=TEXT).value["total_time"] == 70

    def test_addresses_are_absolute(self):
        page = '<meta property="og:image" content="/soup.jpg">' + json_ld(SOUP) + SHOWN
        record = record_of(page, image=ADDRESS, title=TEXT)
        assert record.value["image"] == "https://site.example/soup.jpg"
        assert record.sources["image"].sureness == "likely"

    @pytest.mark.parametrize(
        "image",
        [
            "data:image/gif;base64,R0lGOD",
            "/woocommerce-placeholder-600x600.png",
            "/product-placeholder.svg",
            "/placeholder.3f2a9c1b.svg",
            "/ajax-loader.gif?v=2",
            "/loading-spinner.gif",
            "/transparent-1px.png",
            "/spacer2.gif",
            "/blank.3f2a9c1b.v2.gif",
        ],
    )
    def test_a_placeholder_is_no_picture(self, image):
        page = json_ld({**SOUP, "image": image}) + SHOWN
        assert "image" not in record_of(page, image=ADDRESS, title=TEXT).value

    @pytest.mark.parametrize(
        "image",
        ["google-pixel-8.jpg", "pixel-8.jpg", "transparent-case.jpg", "blank-canvas-a4.jpg", "wheel-loader.jpg"],
    )
    def test_a_thing_that_is_called_like_a_placeholder_is_a_picture(self, image):
        page = json_ld({**SOUP, "image": f"/{image}"}) + SHOWN
        assert record_of(page, image=ADDRESS, title=TEXT).value["image"] == f"https://site.example/{image}"

    def test_a_structure_states_its_value(self):
        assert record_of(json_ld(SOUP) + SHOWN, rating=NUMBER, title=TEXT).value["rating"] == 4.6

    def test_the_number_of_things_is_a_count(self):
        record = record_of(json_ld(SOUP) + SHOWN, reviews={"type": "integer"}, title=TEXT)
        assert record.value["reviews"] == 12


class TestSureness:
    def test_a_value_that_is_stated_and_shown_is_as_sure_as_its_kind(self):
        record = record_of(json_ld(SOUP) + SHOWN, title=TEXT, servings=TEXT)
        assert {name: each.sureness for name, each in record.sources.items()} == {
            "title": "certain",
            "servings": "likely",
        }

    def test_two_statements_of_one_rank_doubt_each_other(self):
        other = '<div itemscope itemtype="https://schema.org/Recipe"><h2 itemprop="name">Leek soup</h2>'
        other += '<i itemprop="recipeYield">6 bowls</i></div>'
        record = record_of(json_ld(SOUP) + SHOWN + other, title=TEXT, servings=TEXT)
        assert "servings" not in record.value
        assert {candidate.value for candidate in record.candidates["servings"]} == {"4 bowls", "6 bowls"}

    def test_a_list_that_lacks_entries_which_the_page_shows_is_doubted(self):
        page = json_ld(SOUP) + "<h1>Leek soup</h1><ul><li>2 leeks<li>1 potato<li>300 ml of the very best stock</ul>"
        assert record_of(page, ingredients=LINES, title=TEXT).missing == ("ingredients",)

    @pytest.mark.parametrize(("code", "sureness"), [("4006381333931", "likely"), ("4006381333932", None)])
    def test_a_code_is_given_by_its_check_digit_alone(self, code, sureness):
        page = json_ld({"@type": "Product", "name": "Blue mug", "gtin13": code}) + "<h1>Blue mug</h1>"
        source = record_of(page, name=TEXT, gtin=TEXT).sources.get("gtin")
        assert (source.sureness if source is not None else None) == sureness

    def test_a_person_is_never_certain(self):
        page = json_ld({"@type": "Article", "headline": "Trains", "author": "Ada Rail"}) + "<h1>Trains</h1>Ada Rail"
        page += '<meta name="author" content="Ada Rail">'
        assert record_of(page, title=TEXT, author=TEXT).sources["author"].sureness == "likely"

    def test_what_no_place_states_is_not_given(self):
        record = record_of(json_ld(SOUP) + SHOWN, title=TEXT, calories=NUMBER)
        assert ("calories" in record.value, "calories" in record.candidates) == (False, False)


class TestWithoutStructuredData:
    TEXT = "".join(f"<p>{f'Sentence number {n} of the night train story, told at length. ' * 3}</p>" for n in range(8))

    def test_a_main_text_is_read_without_what_stands_around_it(self):
        page = f"<html><body><nav>Home News</nav><article><h1>Night trains</h1>{self.TEXT}</article>"
        page += "<footer>Imprint and more</footer></body></html>"
        body = record_of(page, title=TEXT, body=TEXT).value["body"]
        assert "Sentence number 7" in body
        assert "Imprint" not in body

    def test_a_main_text_is_doubted_where_the_page_shows_a_longer_one_beside_it(self):
        other = self.TEXT.replace("night train", "mountain railway and its people")
        blocks = f"<article><h1>Night trains</h1>{self.TEXT}</article>"
        both = f"<html><body>{blocks}<section><div><div>{other}</div></div></section></body></html>"
        assert "body" in record_of(blocks, title=TEXT, body=TEXT).value
        record = record_of(both, title=TEXT, body=TEXT)
        assert [each.why for each in record.candidates["body"]] == [Reason.CONTRADICTED]

    def test_a_day_is_read_where_meta_and_page_agree(self):
        page = f"""<html><head><meta property="article:published_time" content="2024-05-31T08:00:00Z">
            </head><body><article><h1>Night trains</h1>
            <time datetime="2024-05-31">31 May 2024</time>{self.TEXT}</article>
            </body></html>"""
        assert record_of(page, title=TEXT, date=DAY, body=TEXT).value["date"] == "2024-05-31"

    def test_a_labelled_value_is_read(self):
        page = """<h1>Blue mug</h1><meta property="og:title" content="Blue mug">
            <table><tr><th>Brand</th><td>Clayworks</td></tr><tr><th>Weight</th><td>300 g</td></tr></table>"""
        assert record_of(page, name=TEXT, brand=TEXT).value["brand"] == "Clayworks"


class TestListsThatThePageShowsOtherwise:
    """Structured data state one text an entry; a page parts it into cells, in an order and a spelling of its own."""

    @pytest.mark.parametrize(
        "rows",
        [
            "<table><tr><td>leeks</td><td>225 g</td></tr><tr><td>flour</td><td>1½ cups</td></tr></table>",
            "<ul><li><b>225 g</b> <i>leeks</i> <li><b>1½</b><i>cups</i> <u>flour</u></ul>",
            "<div><span>225</span> <span>g</span> <a href=/l>leeks</a></div><div>1 1/2 cups of flour</div>",
        ],
    )
    def test_are_borne_out_by_rows_with_the_same_words(self, rows: str):
        page = json_ld({**SOUP, "recipeIngredient": ["225.0g leeks", "1 1/2 cups flour"]}) + f"<h1>Leek soup</h1>{rows}"
        record = record_of(page, title=TEXT, ingredients=LINES)
        assert record.value["ingredients"] == ["225.0g leeks", "1 1/2 cups flour"]

    @pytest.mark.parametrize(
        "rows",
        [
            "<ul><li>225 g leeks<li>2 cups flour</ul>",
            "<p>We take leeks (225 g, say) and then, as our neighbours do, 1 1/2 cups of the best flour</p>",
            "<ul><li>leeks <li>225 g <li>flour <li>1 1/2 cups</ul>",
            "<ul><li>g leeks 225 <li>flour cups 1 1/2</ul>",
        ],
    )
    def test_are_doubted_where_no_row_says_an_entry(self, rows: str):
        page = json_ld({**SOUP, "recipeIngredient": ["225.0g leeks", "1 1/2 cups flour"]}) + f"<h1>Leek soup</h1>{rows}"
        assert "ingredients" not in record_of(page, title=TEXT, ingredients=LINES).value

    @pytest.mark.parametrize("amount", ["225", "225.0"])
    def test_are_doubted_where_one_text_says_what_several_rows_say(self, amount: str):
        node = {**SOUP, "recipeIngredient": [f"{amount} g leeks, 1 potato"]}
        page = json_ld(node) + "<h1>Leek soup</h1><div><ul><li>225 g leeks<li>1 potato</ul></div>"
        assert "ingredients" not in record_of(page, title=TEXT, ingredients=LINES).value

    def test_are_doubted_where_rows_have_amounts_that_they_lack(self):
        node = {**SOUP, "recipeIngredient": ["leeks", "potato", "salt"]}
        rows = "".join(
            f"<div><p>{name}</p><p>{amount}</p></div>"
            for name, amount in (("leeks", "2 pieces"), ("potato", "1"), ("salt", "a pinch"))
        )
        page = json_ld(node) + f"<h1>Leek soup</h1>{rows}"
        assert "ingredients" not in record_of(page, title=TEXT, ingredients=LINES).value

    def test_the_number_of_a_step_is_no_amount(self):
        steps = ["Wash the leeks", "Cut them", "Cook them well"]
        node = {**SOUP, "recipeInstructions": [{"@type": "HowToStep", "text": step} for step in steps]}
        rows = "".join(f"<div><b>{number}</b> {step}</div>" for number, step in enumerate(steps, 1))
        page = json_ld(node) + f"<h1>Leek soup</h1>{rows}"
        assert record_of(page, title=TEXT, instructions=LINES).value["instructions"] == steps


class TestShownPlacesBesideStructuredData:
    def page(self, shown: str, **stated: object) -> str:
        return json_ld({**MUG, **stated}) + f"<h1>Blue mug</h1>{shown}"

    def test_what_both_say_is_certain(self):
        record = record_of(self.page("<p class=price>7,50 €</p>"), name=TEXT, price=NUMBER)
        assert record.value == {"name": "Blue mug", "price": 7.5}
        assert {name: (each.how, each.sureness, each.confirmed) for name, each in record.sources.items()} == {
            "name": ("json-ld", "certain", True),
            "price": ("json-ld", "certain", True),
        }

    def test_what_nobody_sees_bears_nothing_out(self):
        record = record_of(self.page("<b data-price=7.50>A mug</b>"), name=TEXT, price=NUMBER)
        assert (record.value["price"], record.sources["price"].confirmed) == (7.5, False)
        assert record.sources["price"].sureness == "likely"

    def test_what_one_of_them_says_is_given(self):
        record = record_of(self.page("<dl><dt>Brand<dd>Clayworks</dl>", sku="M-7"), name=TEXT, brand=TEXT, price=NUMBER)
        assert record.value == {"name": "Blue mug", "brand": "Clayworks", "price": 7.5}
        assert record.sources["brand"].how == "definition-list" and not record.sources["price"].confirmed

    def test_structured_data_that_the_page_bears_out_win_and_are_not_certain(self):
        shown = "<table><tr><th>Price<td>70 €</table><p>Members pay 7.50</p>"
        record = record_of(self.page(shown), name=TEXT, price=NUMBER)
        assert record.value["price"] == 7.5
        assert (record.sources["price"].sureness, record.sources["price"].confirmed) == ("likely", False)

    def test_a_number_that_the_page_does_not_show_may_be_stale(self):
        record = record_of(self.page("<table><tr><th>Price<td>9.90 €</table>"), name=TEXT, price=NUMBER)
        assert (record.value["price"], record.sources["price"].how) == (9.9, "table")

    def test_offers_that_differ_are_no_price_unless_one_is_shown(self):
        offers = [{"price": "9"}, {"price": "12"}]
        assert record_of(self.page("", offers=offers), name=TEXT, price=NUMBER).missing == ("price",)
        shown = record_of(self.page("<p class=price>€12.00</p>", offers=offers), name=TEXT, price=NUMBER)
        assert shown.value["price"] == 12

    def test_the_heading_names_the_record_where_structured_data_name_something_that_is_not_shown(self):
        other = record_of(json_ld({**MUG, "name": "MUG-BLUE-7"}) + "<h1>Blue mug</h1>", name=TEXT, price=NUMBER)
        assert (other.value["name"], other.sources["name"].how) == ("Blue mug", "heading")

    @pytest.mark.parametrize(("name", "given"), [("author", {"author": "Ada Quill"}), ("twitter:creator", {})])
    def test_the_handle_of_a_network_is_no_author(self, name: str, given: dict[str, str]) -> None:
        text = "Ada Quill" if name == "author" else "@adaquill"
        assert (
            record_of(f'<meta name="{name}" content="{text}"><p>A tale, told by {text}</p>', author=TEXT).value == given
        )

    def test_what_a_page_writes_for_an_address_and_is_none_is_no_value(self):
        page = self.page("SKU: J-1004", url="http://[#a", image="http://[", sku="J-1004")
        assert record_of(page, image=ADDRESS, sku=TEXT).value == {"sku": "J-1004"}

    def test_a_structure_that_hangs_from_the_node_is_an_object(self):
        maker = {"@type": "Brand", "name": "Clayworks", "url": "https://clay.example/"}
        brand = {"type": "object", "properties": {"name": TEXT, "url": ADDRESS}}
        record = record_of(self.page("", brand=maker), name=TEXT, brand=brand)
        assert record.value == {"name": "Blue mug", "brand": {"name": "Clayworks", "url": "https://clay.example/"}}

    def test_what_is_missing_is_null_only_where_null_is_allowed(self):
        record = record_of("<p>nothing</p>", price={"type": ["number", "null"]}, sku=TEXT)
        assert (record.value, record.sources, record.missing) == ({"price": None}, {}, ("price", "sku"))

    def test_alternatives_and_nested_objects_are_read_from_labels(self):
        money = {"type": "object", "properties": {"amount": NUMBER, "currency": TEXT}}
        weight, stock = {"anyOf": [NUMBER, {"type": "null"}]}, {"enum": ["in_stock", "sold_out"]}
        rows = (("Preis", "1.299,00 €"), ("Gewicht", "2,5 kg"), ("Verfügbarkeit", "Ausverkauft"))
        table = "".join(f"<tr><th>{label}<td>{value}" for label, value in rows)
        record = record_of(f"<html lang=de><table>{table}</table>", price=money, weight=weight, stock=stock)
        assert record.missing == ()
        assert record.value == {"price": {"amount": 1299, "currency": "EUR"}, "weight": 2.5, "stock": "sold_out"}
