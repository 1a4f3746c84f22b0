"""Kinds of lists of the web that were not read, or were read wrongly: one page for each."""

from __future__ import annotations

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.lists.places import element_with_text
from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, URL, list_of, rows, table_of

NAMES = ("Ash", "Birch", "Cedar", "Elm", "Fir")
WOODS = (*NAMES, "Gum", "Hazel", "Ivy")


class TestColumns:
    def test_a_value_is_the_whole_cell_under_the_field_s_name(self):
        page = table_of("Name|Description", *(f"{name} 01|Builds a <a href='/r'>reader</a> of it" for name in NAMES))
        found = rows(list_of(page, name=TEXT, description=TEXT))
        assert found == [{"name": f"{name} 01", "description": "Builds a reader of it"} for name in NAMES]

    def test_signs_at_the_edges_of_a_cell_belong_to_it(self):
        page = table_of("Option|Effect", "-a|[all]", "-b|[both]", "-c|[copy]")
        assert [row["option"] for row in rows(list_of(page, option=TEXT, effect=TEXT))] == ["-a", "-b", "-c"]

    def test_a_header_of_two_words_for_one_thing(self):
        page = table_of("Race|Date/time", *(f"{name} cup|2026-03-0{n + 1} 14:00" for n, name in enumerate(NAMES)))
        found = rows(list_of(page, race=TEXT, date=DAY))
        assert [row["date"] for row in found] == [f"2026-03-0{n}" for n in range(1, 6)]

    def test_a_header_with_a_unit(self):
        page = table_of("Engine|Power kW|Torque Nm", *(f"{name}|{n * 10}|{n * 7}" for n, name in enumerate(NAMES, 5)))
        found = rows(list_of(page, engine=TEXT, power_kw=NUMBER))
        assert [row["power_kw"] for row in found] == ["50", "60", "70", "80", "90"]

    def test_a_header_over_two_rows(self):
        page = """<table><tr><th rowspan=2>City</th><th colspan=2>Lines</th></tr><tr><th>Day</th><th>Night</th></tr>
          <tr><td rowspan=2>Ayton</td><td>12</td><td></td></tr><tr><td>14</td><td>3</td></tr>
          <tr><td>Bexley</td><td colspan=2>5</td></tr></table>"""
        assert rows(list_of(page, city=TEXT, day=NUMBER, night=NUMBER)) == [
            {"city": "Ayton", "day": "12"},
            {"city": "Ayton", "day": "14", "night": "3"},
            {"city": "Bexley", "day": "5", "night": "5"},
        ]

    def test_a_field_that_nothing_names_takes_no_column(self):
        page = table_of("Package|Popcon|Size", *(f"{name}|{n}|{n * 7}" for n, name in enumerate(NAMES)))
        assert not list_of(page, network=TEXT, mtu=TEXT, rationale=TEXT).records

    def test_a_table_whose_headers_are_the_fields_goes_before_a_larger_one(self):
        larger = table_of("Package|Size|Notes", *(f"{name} {n}|{n}|note {n}" for n in range(9) for name in NAMES))
        page = larger + table_of("Setting|Value", "mtu|1500", "ttl|64")
        assert rows(list_of(page, setting=TEXT, value=TEXT)) == [
            {"setting": "mtu", "value": "1500"},
            {"setting": "ttl", "value": "64"},
        ]

    def test_tables_with_other_columns_are_other_lists(self):
        page = table_of("Command|Meaning", "ip|routes", "ss|sockets") + table_of("Flag|Meaning", "-a|all", "-b|both")
        assert [row["command"] for row in rows(list_of(page, command=TEXT, meaning=TEXT))] == ["ip", "ss"]

    def test_rows_that_span_the_columns_are_no_records(self):
        body = "".join(
            f"<tr><td colspan=2>Group {group}</td></tr><tr><td>p{group}1</td><td>x</td></tr>"
            f"<tr><td>p{group}2</td><td>y</td></tr>"
            for group in "AB"
        )
        page = f"<table><tr><th>Name</th><th>Remarks</th></tr>{body}</table>"
        assert [row["name"] for row in rows(list_of(page, name=TEXT, remarks=TEXT))] == ["pA1", "pA2", "pB1", "pB2"]

    @pytest.mark.parametrize("tag", ["th", "td"])
    def test_a_header_that_comes_again_is_neither_a_record_nor_lost(self, tag: str):
        head = "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in ("Race", "Day", "Winner")) + "</tr>"
        body = [f"<tr><td>{name} cup<td>2026-03-0{n}<td>{name} {n}th" for n, name in enumerate(WOODS, 1)]
        page = f"<table>{head}{''.join(body[:4])}{head}{''.join(body[4:])}</table>"
        reading = list_of(page, race=TEXT, day=DAY, winner=TEXT)
        assert [row["race"] for row in rows(reading)] == [f"{name} cup" for name in WOODS]
        assert reading.left_out == ""

    def test_cells_hold_the_values_of_their_controls_and_pictures(self):
        page = table_of(
            "Name|Active|Country",
            *(
                f"<input value='Item {n}'>|<input type=checkbox {'checked' * (n == 2)}>|<img alt=Peru>"
                for n in (1, 2, 3)
            ),
        )
        found = rows(list_of(page, name=TEXT, active={"type": "boolean"}, country=TEXT))
        assert found[:2] == [
            {"name": "Item 1", "active": "false", "country": "Peru"},
            {"name": "Item 2", "active": "true", "country": "Peru"},
        ]

    def test_grids_of_roles_are_tables(self):
        body = "".join(
            f"<div role=row><div role=gridcell>Ship {n}</div><div role=gridcell>{n * 10}</div></div>" for n in (1, 2, 3)
        )
        head = "<div role=row><div role=columnheader>Vessel</div><div role=columnheader>Length</div></div>"
        page = f"<div role=grid><div role=rowgroup>{head}</div><div role=rowgroup>{body}</div></div>"
        found = rows(list_of(page, vessel=TEXT, length=NUMBER))
        assert found == [{"vessel": f"Ship {n}", "length": f"{n * 10}"} for n in (1, 2, 3)]


class TestRecords:
    def test_records_over_two_rows(self):
        body = "".join(
            f"<tr class=head><td><a href='/p/{n}'>{name} lamp</a></td><td>€ {n + 1}.50</td></tr>"
            f"<tr class=more><td colspan=2>Made in <b>{name}ton</b> by hand, of wood and wool, for reading at night"
            "</td></tr>"
            for n, name in enumerate(NAMES)
        )
        found = rows(list_of(f"<table>{body}</table>", name=TEXT, price=NUMBER, description=TEXT))
        assert [(row["name"], row["price"]) for row in found] == [
            (f"{name} lamp", f"€ {n + 1}.50") for n, name in enumerate(NAMES)
        ]
        assert all(row["description"].startswith("Made in") for row in found)

    def test_labels_with_line_breaks_between(self):
        cards = "".join(
            f"<div class=card><b>{name} Hall</b><br>Location: {name}ton<br>Capacity: {n * 100} seats</div>"
            for n, name in enumerate(NAMES, 1)
        )
        found = rows(list_of(cards, name=TEXT, location=TEXT, capacity=TEXT))
        assert found[0] == {"name": "Ash Hall", "location": "Ashton", "capacity": "100 seats"}
        assert len(found) == len(NAMES)

    def test_the_address_is_the_link_that_leads_to_the_record(self):
        body = "".join(
            f"<tr><td><a href='/terms'>Terms</a> <a href='/by/court'>Court</a> <a href='/o/{n}'>{name} v. Oak</a></td>"
            f"<td>2026-01-0{n + 1}</td></tr>"
            for n, name in enumerate(NAMES)
        )
        found = rows(list_of(f"<table>{body}</table>", name=TEXT, date=DAY, url=ADDRESS))
        assert [row["url"] for row in found] == [f"https://site.example/o/{n}" for n in range(5)]

    def test_folded_answers(self):
        page = "<dl>" + "".join(f"<dt>Who is {name}?</dt><dd hidden>{name} is a tree.</dd>" for name in NAMES) + "</dl>"
        found = rows(list_of(page, question=TEXT, answer=TEXT))
        assert found[0] == {"question": "Who is Ash?", "answer": "Ash is a tree."}

    def test_several_terms_may_be_explained_together(self):
        page = "<dl><dt>-n</dt><dt>--dry-run</dt><dd>Show only.</dd><dt>-v<a href='#v'>¶</a></dt><dd>Tell.</dd></dl>"
        assert rows(list_of(page, option=TEXT, description=TEXT)) == [
            {"option": "-n, --dry-run", "description": "Show only."},
            {"option": "-v", "description": "Tell."},
        ]

    def test_a_table_that_is_laid_out_by_style(self):
        cells = "".join(
            f"<div class=cell>{kind}</div><div class=cell>{name}</div><div class=cell>{said}</div>"
            for kind, name, said in (("int", "size()", "How many."), ("void", "clear()", ""), ("int", "max()", "Most."))
        )
        heads = "".join(f"<div class='table-header'>{head}</div>" for head in ("Type", "Method", "Text"))
        found = rows(list_of(f"<div>{heads}{cells}</div>", type=TEXT, method=TEXT, text=TEXT))
        assert [row.get("text") for row in found] == ["How many.", None, "Most."]

    def test_code_that_sentences_mention_is_no_record(self):
        page = "<p>" + "The calls are <code class=function>timer_start()</code> and others. " * 30 + "</p>"
        assert not list_of(page, function=TEXT).records

    def test_a_heading_that_all_cards_share_names_none(self):
        cards = "".join(f"<div class=card><h3>Our products</h3><b class=sku>K-{n}</b> €{n}.00</div>" for n in range(4))
        assert not any("name" in row for row in rows(list_of(cards, name=TEXT, sku=TEXT, price=NUMBER)))

    def test_a_text_that_is_cut_is_read_in_full_where_its_link_has_it(self):
        cards = "".join(
            f"<li><h3><a href='/b/{n}' title='{name} and the long walk'>{name} and the...</a></h3><p>€ {n}.50</p></li>"
            for n, name in enumerate(NAMES)
        )
        found = rows(list_of(f"<ul>{cards}</ul>", title=TEXT, price=NUMBER))
        assert [row["title"] for row in found] == [f"{name} and the long walk" for name in NAMES]


class TestOneElement:
    @pytest.mark.parametrize(
        ("html", "tag"),
        [
            ("<table><tr><th>Name<th>Price</tr><tbody><tr><td>Ash<td>€ 1</tr></tbody></table>", "tr"),
            ("<ul><li><a href=/a>Ash</a> <b>€ 1</b></li><li>Elm € 2</li></ul>", "li"),
            ("<p>Ash € 1</p><p>Ash € 1</p>", None),
        ],
    )
    def test_the_row_or_block_that_says_a_text(self, html: str, tag: str | None):
        found = element_with_text(page_from_html(html.encode(), URL, charset="utf-8"), "Ash € 1")
        assert (found.tag if found is not None else None) == tag

    def test_the_one_row_of_a_list_s_last_page(self):
        page = table_of("No|Word", "5|yes")
        assert rows(list_of(page, no=TEXT, word=TEXT)) == [{"no": "5", "word": "yes"}]


class TestSeveralLists:
    @staticmethod
    def entries(names: str) -> str:
        return "<dl>" + "".join(f"<dt>{name}</dt><dd>Does {name}.</dd>" for name in names) + "</dl>"

    def test_definition_lists_under_headings_are_chapters_of_one_list(self):
        page = f"<h2>Core</h2>{self.entries('ab')}<h2>Other</h2>{self.entries('cdefg')}"
        reading = list_of(page, name=TEXT, description=TEXT)
        assert [row["name"] for row in rows(reading)] == list("abcdefg")
        assert reading.left_out == ""

    def test_an_index_by_letters_is_one_list(self):
        letters = {"A": ("Ash tree", "Alder tree"), "B": ("Birch tree",), "C": ("Cherry tree", "Cedar tree")}
        items = {head: (f"<li><a href='/{name}'>{name}</a>" for name in names) for head, names in letters.items()}
        page = "".join(f"<h2>{head}</h2><ul>{''.join(each)}</ul>" for head, each in items.items())
        reading = list_of(page, name=TEXT, url=ADDRESS)
        assert [row["name"] for row in rows(reading)] == [name for names in letters.values() for name in names]
        assert reading.left_out == ""

    @pytest.mark.parametrize(
        "heading", ["Floor lamps", "Lamps of similarity", "Customers also bought", "Ähnliche Lampen", "Vus récemment"]
    )
    def test_goods_of_several_kinds_are_one_list_without_what_the_page_recommends(self, heading: str):
        cards = lamps(*["card"] * 5).split("<li ")[1:]
        page = f"<section><h2>Desk lamps</h2><ul><li {'<li '.join(cards[:3])}</ul></section>"
        page += f"<section><h2>{heading}</h2><ul><li {'<li '.join(cards[3:])}</ul></section>"
        reading = list_of(page, name=TEXT, price=NUMBER)
        assert len(reading.records) == (5 if "amps" in heading else 3)
        assert reading.left_out == ""

    @pytest.mark.parametrize("heading", ["Health related costs", "Similarly old woods", "Related woods"])
    def test_a_chapter_before_others_is_part_of_the_list_whatever_it_is_called(self, heading: str):
        page = "".join(f"<h2>{head}</h2>{self.entries(names)}" for head, names in ((heading, "ab"), ("Other", "cd")))
        assert [row["name"] for row in rows(list_of(page, name=TEXT, description=TEXT))] == list("abcd")

    def test_a_heading_that_names_a_field_says_which_list_is_meant(self):
        page = f"<h2>Options</h2>{self.entries('abcd')}<h2>Interactive mode</h2>{self.entries('efghi')}"
        reading = list_of(page, option=TEXT, description=TEXT)
        assert [row["option"] for row in rows(reading)] == list("abcd")
        assert reading.left_out == ""

    def test_tables_with_the_same_columns_are_chapters_of_one_list(self):
        page = "<h2>build</h2>" + table_of("Option|Effect", "-a|all", "-b|both")
        page += "<h2>serve</h2>" + table_of("Option|Effect", "-c|copy")
        assert [row["option"] for row in rows(list_of(page, option=TEXT, effect=TEXT))] == ["-a", "-b", "-c"]


def test_a_cell_over_all_columns_says_that_the_list_is_empty_and_is_no_record():
    page = "<h1>Parts</h1><table><tr><th>Name<th>Price<tr><td colspan=2>No data available</table>"
    assert list_of(page, name=TEXT, price=NUMBER).records == ()


def lamps(*classes: str) -> str:
    """Cards of one markup, each with its own classes."""
    return "".join(
        f"<li class='{name}'><h3><a href='/p/{number}'>{WOODS[number]} lamp</a></h3><p class=price>€{number + 1}.50</p>"
        for number, name in enumerate(classes)
    )


def test_rows_whose_classes_say_what_each_is_about_are_one_list():
    words = ("desk", "desk", "desk", "floor", "desk", "wall", "wall", "garden")
    page = f"<h1>Lamps</h1><ul>{lamps(*(f'product product_cat-{word}' for word in words))}</ul>"
    assert len(list_of(page, name=TEXT, price=NUMBER).records) == 8


@pytest.mark.parametrize("classes", [("odd", "even"), ("row-light", "row-dark"), ("card", "card bg-grey")])
def test_rows_in_two_colours_are_one_list(classes: tuple[str, str]):
    reading = list_of(f"<h1>Lamps</h1><ul>{lamps(*classes * 3)}</ul>", name=TEXT, price=NUMBER)
    assert (len(reading.records), reading.left_out) == (6, "")


@pytest.mark.parametrize("classes", [("head", "detail"), ("", "detail"), ("odd", "even")])
@pytest.mark.parametrize("second", ["Judge {}", "<a href='/judges/{}'>{} J.</a>"])
def test_rows_of_two_kinds_that_take_turns_are_no_records_of_their_own(classes: tuple[str, str], second: str):
    names = (*NAMES, "Gum")
    page = "".join(
        f"<tr class='{classes[0]}'><td>{name} v. Oak</td><td>24-{n}00</td></tr>"
        f"<tr class='{classes[1]}'><td>{second.format(name, name)}</td><td>2024-03-1{n}</td></tr>"
        for n, name in enumerate(names)
    )
    found = rows(list_of(f"<table>{page}</table>", case_name=TEXT, docket_number=TEXT, date_filed=DAY))
    assert len(found) == (0 if classes[0] == "odd" else 6), "rows that nothing tells apart are no list at all"
    for n, row in enumerate(found):
        assert (row["docket_number"], row["date_filed"]) == (f"24-{n}00", f"2024-03-1{n}")
        assert row.get("case_name", f"{names[n]} v. Oak") == f"{names[n]} v. Oak"


@pytest.mark.parametrize("classes", [("item", "ad"), ("item", "item sponsored")])
def test_rows_of_another_kind_between_the_records_are_none(classes: tuple[str, str]):
    page = "".join(
        f"<li class='{classes[0]}'><a href='/p/{n}'>{name} lamp</a> <span class=price>€ {n}.50</span></li>"
        f"<li class='{classes[1]}'><a href='/ad/{n}'>Ad {name}</a> <span class=price>€ 9{n}.00</span></li>"
        for n, name in enumerate((*NAMES, "Gum"))
    )
    found = rows(list_of(f"<ul>{page}</ul>", name=TEXT, price=NUMBER, url=ADDRESS))
    assert [row["name"] for row in found] == [f"{name} lamp" for name in (*NAMES, "Gum")]


@pytest.mark.parametrize("stem", ["", "py-"])
def test_rows_of_two_kinds_are_two_lists_and_the_other_one_is_told(stem: str):
    kinds = ("function", "function", "class", "function", "class", "function")
    classes = [f"entry {stem}{kind}" for kind in kinds]
    reading = list_of(f"<h1>Lamps</h1><ul>{lamps(*classes)}</ul>", name=TEXT, price=NUMBER)
    assert len(reading.records) < len(classes) and reading.left_out


@pytest.mark.parametrize(
    "name", ["<h3>{}</h3>", "<h3><a href='/p/{}'>{}</a></h3>", "<a href='/p/{}'>{}</a>", "<b class=name>{}</b>"]
)
def test_names_that_differ_by_a_number_alone_are_names(name: str):
    cards = "".join(
        f"<li class=product>{name.format(f'Part {number}', f'Part {number}')}<p class=price>€{number + 1}.50</p>"
        for number in range(12)
    )
    reading = list_of(f"<h1>Parts</h1><ul>{cards}</ul>", name=TEXT, price=NUMBER)
    assert [record.values["name"] for record in reading.records] == [f"Part {number}" for number in range(12)]


class TestNames:
    def test_a_line_break_in_a_header_parts_its_words(self):
        page = table_of("Command-line<br>parameter|Format", *(f"{name.lower()}|{name} picture" for name in NAMES))
        assert [row["parameter"] for row in rows(list_of(page, parameter=TEXT, format=TEXT))] == [
            *map(str.lower, NAMES)
        ]

    def test_words_of_a_header_may_be_written_together_in_a_name(self):
        page = table_of("Key Word|Standard", *(f"{name.upper()}|reserved" for name in NAMES))
        assert [row["keyword"] for row in rows(list_of(page, keyword=TEXT))] == [*map(str.upper, NAMES)]

    def test_plain_cells_that_are_called_as_the_fields_are_a_header(self):
        body = "".join(f"<tr><td>{text}<td>X<td>by {text}ton" for text in NAMES)
        page = f"<table><tr><td>Format<td>Encoding<td>Comments{body}</table>"
        found = rows(list_of(page, format=TEXT, comments=TEXT))
        assert found == [{"format": name, "comments": f"by {name}ton"} for name in NAMES]

    def test_an_empty_cell_in_a_second_header_row_takes_no_name_away(self):
        heads = "<tr><th></th><th>Capital</th></tr><tr><th>Country</th><th></th></tr>"
        body = "".join(f"<tr><th>{name}ia</th><td>{name}ton</td></tr>" for name in NAMES)
        page = f"<table><thead>{heads}</thead><tbody>{body}</tbody></table>"
        assert rows(list_of(page, country=TEXT, capital=TEXT))[0] == {"country": "Ashia", "capital": "Ashton"}

    def test_a_header_row_that_is_not_shown_names_nothing(self):
        heads = "<tr><th>Test<th>Result</tr><tr hidden><th colspan=2>No results found</tr>"
        body = "".join(f"<tr><td>{name} holds<td>Passed</tr>" for name in NAMES)
        page = f"<table><thead>{heads}</thead><tbody>{body}</tbody></table>"
        assert rows(list_of(page, test=TEXT, result=TEXT))[0] == {"test": "Ash holds", "result": "Passed"}

    def test_classes_of_cells_name_values(self):
        body = "".join(
            f"<tr><td class=mode>-rw-r--{n}-<td class=size>{n * 7}<td class=list><a href='/{name}'>{name}.txt</a>"
            for n, name in enumerate(NAMES, 1)
        )
        found = rows(list_of(f"<table>{body}</table>", name=TEXT, mode=TEXT, size=NUMBER))
        assert found[0] == {"name": "Ash.txt", "mode": "-rw-r--1-", "size": "7"}

    def test_the_paths_of_links_and_classes_name_values(self):
        cards = "".join(
            f"<article><h2><a href='/e/{name}'>{name} in May</a></h2><p>By <a href='/author/{n % 2}'>Bo{n % 2}</a> in "
            f"<a href='/category/{n % 3}'>Kind {n % 3}</a></p></article>"
            for n, name in enumerate(NAMES)
        )
        found = rows(list_of(cards, title=TEXT, author=TEXT, category=TEXT))
        assert found[1] == {"title": "Birch in May", "author": "Bo1", "category": "Kind 1"}

    def test_a_value_that_a_class_names_goes_on_over_inner_elements(self):
        entries = "".join(
            f"<dt><a href='/{name}'>{name}</a><span class=refpurpose> — fell an <span class=p>{name}</span> tree</span>"
            for name in NAMES
        )
        found = rows(list_of(f"<dl>{entries}</dl>", command=TEXT, purpose=TEXT, url=ADDRESS))
        assert found[0] == {"command": "Ash", "purpose": "fell an Ash tree", "url": "https://site.example/Ash"}

    def test_addresses_that_are_texts(self):
        page = table_of("Name|URL", *(f"{name}|https://{name.lower()}.example/" for name in NAMES))
        assert rows(list_of(page, name=TEXT, url=ADDRESS))[0] == {"name": "Ash", "url": "https://ash.example/"}

    def test_a_labelled_value_may_stand_in_all_records(self):
        cards = "".join(
            f"<div class=issue><b>Severity: </b>LOW<br><b>Confidence: </b>HIGH<br><b>Line: </b>{n * 7}</div>"
            for n in range(2, 9)
        )
        found = rows(list_of(cards, severity=TEXT, confidence=TEXT, line=NUMBER))
        assert found[0] == {"severity": "LOW", "confidence": "HIGH", "line": "14"}
        assert len(found) == 7


class TestWhatRecordsAreCalled:
    """The schema's first text is what the records are called, where something else says which records these are."""

    def test_by_the_link_that_another_field_asks_for(self):
        page = (
            "<ul>" + "".join(f"<li><a href='m{n}'>About {name}</a> for all" for n, name in enumerate(WOODS)) + "</ul>"
        )
        found = rows(list_of(page, subject=TEXT, url=ADDRESS))
        assert found[0] == {"subject": "About Ash", "url": "https://site.example/pages/m0"}

    def test_not_in_a_menu(self):
        page = "<nav><ul>" + "".join(f"<li><a href='m{n}'>{name}</a>" for n, name in enumerate(WOODS)) + "</ul></nav>"
        assert not list_of(page, product=TEXT, url=ADDRESS).records

    def test_not_by_its_place_alone(self):
        page = "<ul>" + "".join(f"<li>{name} was here" for name in WOODS) + "</ul>"
        assert not list_of(page, product=TEXT, supplier=TEXT).records

    def test_a_term_and_its_meaning_in_one_line(self):
        page = "<ul>" + "".join(f"<li><code>{name.upper()}</code> — Tells of {name} trees." for name in NAMES) + "</ul>"
        found = rows(list_of(page, variable=TEXT, description=TEXT))
        assert found[0] == {"variable": "ASH", "description": "Tells of Ash trees."}

    def test_rows_of_two_cells_without_a_header(self):
        page = "<table>" + "".join(f"<tr><td>{name.lower()}<td>{name} trees" for name in NAMES) + "</table>"
        assert rows(list_of(page, selector=TEXT, meaning=TEXT))[0] == {"selector": "ash", "meaning": "Ash trees"}


class TestWholeLists:
    def test_rows_in_two_colours_are_one_list(self):
        body = "".join(
            f"<tr class={'dark' if n % 2 else 'light'}><td>{n} days<td><a href='/{name}'>{name} wood</a>"
            for n, name in enumerate(WOODS)
        )
        found = list_of(f"<table>{body}</table>", name=TEXT, url=ADDRESS)
        assert [row["name"] for row in rows(found)] == [f"{name} wood" for name in WOODS]
        assert not found.left_out

    def test_rows_with_empty_cells_stay_under_headers_that_are_the_fields(self):
        page = table_of("Keyword|Kind", *(f"{name}|{'reserved' if n % 3 else ''}" for n, name in enumerate(WOODS)))
        assert [row["keyword"] for row in rows(list_of(page, keyword=TEXT, kind=TEXT))] == list(WOODS)


def test_a_span_of_money_states_both_bounds_in_full():
    """The first amount alone was given: £50 for "£50–60k"."""
    spans = ("£50–60k", "£40-45k", "£30k – £35k", "£1,500 - £2,000", "£52.5-60k")
    page = "".join(
        f"<li><a href='/{name}'>{name} keeper</a> <span class=salary>{span}</span></li>"
        for name, span in zip(NAMES, spans, strict=True)
    )
    found = rows(list_of(f"<ul>{page}</ul>", title=TEXT, salary_min=NUMBER, salary_max=NUMBER))
    assert [row["salary_min"] for row in found] == ["£50000", "£40000", "£30000", "£1,500", "£52500"]
    assert [row["salary_max"] for row in found] == ["£60000", "£45000", "£35000", "£2,000", "£60000"]


def test_an_amount_in_thousands_is_not_read_without_them():
    page = "".join(f"<li><a href='/{name}'>{name}</a> <b class=price>£5{n}k</b></li>" for n, name in enumerate(NAMES))
    assert not any("price" in row and "k" not in row["price"] for row in rows(list_of(page, title=TEXT, price=NUMBER)))


def test_who_says_something_stands_before_the_word():
    page = "".join(
        f"<li><div class=author><cite>{name} Lee</cite> <span>says:</span></div><p>I liked {name} best of all.</p></li>"
        for name in NAMES
    )
    found = rows(list_of(f"<ol>{page}</ol>", author=TEXT, text=TEXT))
    assert [row["author"] for row in found] == [f"{name} Lee" for name in NAMES]


@pytest.mark.parametrize("lengths", [[30], [15, 15], [11, 19]])
@pytest.mark.parametrize("asked", [{"name": TEXT}, {"title": TEXT, "url": ADDRESS}], ids=["name", "title"])
def test_names_that_differ_by_a_number_alone(asked: dict[str, object], lengths: list[int]) -> None:
    """Two columns of numbered lots were two records called "Lot", and the title of a list of them was missing."""
    lots = [f"<li class=card><h3><a href=/{n}>Lot {n}</a></h3><p class=price>€{n}.50" for n in range(1, 31)]
    columns = [f"<ul class=lots>{''.join(lots.pop(0) for _ in range(length))}</ul>" for length in lengths]
    found = rows(list_of(f"<h1>Lots</h1><div>{''.join(columns)}</div>", **asked, price=NUMBER))
    assert [row[next(iter(asked))] for row in found] == [f"Lot {n}" for n in range(1, 31)]
    assert found[2]["price"] == "€3.50"


def test_a_citation_that_differs_by_a_number_alone_is_no_name() -> None:
    page = "".join(
        f"<li><a href='/o/{n}.pdf'>Opinion</a> Official Citation: 99 Ops. {n}{n} <i>January {n}, 2024</i></li>"
        for n in range(1, 6)
    )
    found = rows(list_of(f"<main><ul>{page}</ul></main>", case_name=TEXT, filed=DAY, url=ADDRESS))
    assert [set(row) for row in found] == [{"filed", "url"}] * 5
