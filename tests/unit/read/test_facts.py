"""Facts that a page states, read from its tree."""

from __future__ import annotations

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.facts.facts import Facts, facts_of

URL = "https://shop.example/lamp"


def facts(body: str, head: str = "", records: list[str] | None = None, url: str = URL) -> Facts:
    html = f"<html lang=en><head>{head}</head><body>{body}</body></html>"
    return facts_of(page_from_html(html.encode(), url, charset="utf-8"), records=records)


def labelled(read: Facts) -> list[tuple[str, str, str]]:
    return [(pair.how, pair.label, pair.text) for pair in read.pairs]


def test_rows_terms_and_lines_label_their_values() -> None:
    body = """<table><tr><th>Weight</th><td>2.5 kg</td></tr><tr><th>Size</th><td>S</td></tr></table>
      <dl><dt>Maker</dt><dd>Acme</dd></dl><p>UPC: 123</p><div><b>Stock</b><span>3</span></div>"""
    assert labelled(facts(body)) == [
        ("table", "Weight", "2.5 kg"),
        ("table", "Size", "S"),
        ("definition-list", "Maker", "Acme"),
        ("label", "UPC", "123"),
        ("label", "Stock", "3"),
    ]


def test_the_one_row_of_a_table_is_named_by_its_header() -> None:
    body = "<table><tr><th>Part</th><th colspan=2>Net</th></tr><tr><td>A1</td><td>5</td><td>EUR</td></tr></table>"
    assert [(label, text) for _, label, text in labelled(facts(body))] == [("Part", "A1"), ("Net", "5"), ("Net", "EUR")]


def test_a_heading_labels_what_is_under_it() -> None:
    body = "<section><h2>Care</h2><ul><li>Wash</li><li>Dry</li></ul><h2>Origin</h2><p>Leeds</p></section>"
    assert [pair for pair in labelled(facts(body)) if pair[0] == "heading"] == [
        ("heading", "Care", "Wash\nDry"),
        ("heading", "Origin", "Leeds"),
    ]


def test_controls_say_what_they_hold_and_passwords_are_left_out() -> None:
    body = """<form><label>Name <input name=n value=Ann></label><label for=r>Role</label>
      <select id=r><option>User<option selected>Admin</select>
      <label><input type=checkbox checked> Active</label><input type=password name=secret value=x></form>"""
    read = facts(body)
    assert [(pair.label, pair.text, pair.asking) for pair in read.pairs if pair.how == "control"] == [
        ("Name", "Ann", False),
        ("Role", "Admin", False),
        ("Active", "true", False),
    ]
    assert next(pair for pair in read.pairs if pair.label == "Role").options == ("User", "Admin")


def test_the_text_of_a_combo_box_is_its_value_and_no_part_of_its_label() -> None:
    box = "<div role=combobox id=box {}><span id=now>Bern</span></div>"
    for body in (
        "<b id=word>Town</b>" + box.format("aria-labelledby='word now'"),
        "<label for=box>Town</label><p>" + box.format("") + "</p>",
        "<label>Town " + box.format("").replace("div", "span") + "</label>",
        "<label>Town</label>" + box.format(""),
    ):
        held = [pair for pair in facts(body).pairs if pair.how == "control"]
        assert [(pair.label, pair.text) for pair in held] == [("Town", "Bern")]
        assert not [pair for pair in held if "Bern" in pair.more_labels]


def test_repeated_blocks_menus_and_what_is_struck_are_no_facts_of_the_page() -> None:
    card = "<li class=card><h3><a href=/other{0}>Other {0}</a></h3><b class=price>€{0}</b></li>"
    body = f"""<nav><b class=price>€1</b></nav><main><h1>Lamp</h1><p class=price>€7</p><p><del>€9</del> now</p>
      <ul>{"".join(card.format(n) for n in (2, 3, 4))}</ul></main>"""
    read = facts(body, "<title>Lamp | Shop</title>")
    assert [(each.names, each.text) for each in read.named if each.names] == [("price", "€7")]
    assert read.text == "Lamp\n€7\nnow" and read.h1 == "Lamp"


def test_a_block_that_is_called_related_is_set_apart() -> None:
    read = facts("<h1>Lamp</h1><div class='relatedItems'><p>Also a chair</p></div>", "<title>Lamp</title>")
    assert (read.plain_text, read.set_apart) == ("Lamp", [("relatedItems", "Also a chair")])


def test_records_are_read_one_by_one() -> None:
    body = "<table><tr><th>Part<th>Net</tr><tr id=a><td>A1<td>5</tr><tr id=b><td>B2<td>6</tr></table>"
    blocks = facts(body, records=["#a", "#b", "#gone"]).blocks
    assert {place: [(p.label, p.text) for p in block.pairs] for place, block in blocks.items()} == {
        0: [("Part", "A1"), ("Net", "5")],
        1: [("Part", "B2"), ("Net", "6")],
    }


def test_the_section_that_the_address_names_comes_first() -> None:
    body = "<section id=part-a><h2>a</h2></section><section id=part-b><h2>b</h2><p class=x>y</p></section>"
    read = facts(body, url=f"{URL}#part-b")
    assert [(each.id, each.named) for each in read.anchors] == [("part-b", True), ("part-a", False), ("part-b", False)]
    assert [each.text for each in read.named if each.in_fragment and each.names == "x"] == ["y"]


def test_a_page_says_in_markup_or_words_that_it_still_loads() -> None:
    script = "<script>go()</script>"
    assert facts("<main aria-busy=true></main>").busy == "aria-busy"
    assert facts("<p>Loading…</p>", script).busy == 'the text "Loading…"'
    assert facts("<p>Loading ramp</p>", f"<title>Loading ramp</title>{script}").busy == ""
    empty = facts("<main id=app></main>", script)
    assert (empty.empty, empty.bare, facts("<main id=app></main>").empty) == (["main app"], True, ())
