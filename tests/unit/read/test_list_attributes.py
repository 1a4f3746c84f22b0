"""Values of lists that no place names: pictures, days of `time`, stars, numbers with their word, names after "by"."""

from __future__ import annotations

import time

import pytest

from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, rows

WOODS = ("Ash", "Birch", "Cherry", "Dogwood")
PICTURES = [f"https://site.example/i/{n}.jpg" for n in range(4)]


def cards(inside: str) -> str:
    """A card for each wood; {n} is its number, {name} its name."""
    parts = (f"<div class=card>{inside.format(n=n, name=name)}</div>" for n, name in enumerate(WOODS))
    return f"<h1>Woods</h1><div class=cards>{''.join(parts)}</div>"


def column(page: str, wanted: str, /, **fields: dict[str, str]) -> list[str | None]:
    return [row.get(wanted) for row in rows(list_of(page, **fields))]


class TestPictures:
    @pytest.mark.parametrize(
        "inside",
        [
            "<img src=/i/{n}.jpg><h3>{name} lamp</h3>",
            "<a href=/p/{n}><img src=/i/{n}.jpg alt={name}><h3>{name} lamp</h3></a>",
            "<img src=/blank.gif data-src=/i/{n}.jpg><h3>{name} lamp</h3>",
            "<img srcset='/i/{n}.jpg 1x, /i/2x/{n}.jpg 2x'><h3>{name} lamp</h3>",
            "<picture><source srcset='/i/{n}.jpg, /2x/{n}.jpg 2x'><img src=data:image/gif;base64,R0>"
            "</picture><h3>{name} lamp</h3>",
            "<h3>{name} lamp</h3><img src=/i/{n}.jpg><img src=/hover/{n}.jpg>",
            "<img class=icon src=/star.svg><h3>{name} lamp</h3><img src=/i/{n}.jpg>",
        ],
        ids=["before", "in a link", "loaded late", "several sizes", "in a picture element", "two", "an icon before it"],
    )
    def test_a_record_has_its_own_picture(self, inside: str):
        assert column(cards(inside), "image", name=TEXT, image=ADDRESS) == PICTURES

    def test_figures_have_the_picture_above_their_caption(self):
        figures = "".join(
            f"<figure><img src=/i/{n}.jpg><figcaption>{w} wood</figcaption></figure>" for n, w in enumerate(WOODS)
        )
        assert column(f"<h1>Woods</h1>{figures}", "image", caption=TEXT, image=ADDRESS) == PICTURES

    def test_a_picture_that_all_records_share_is_none_of_theirs(self):
        page = cards("<img src=/logo.svg><h3><a href=/p/{n}>{name} lamp</a></h3>")
        assert column(page, "image", name=TEXT, url=ADDRESS, image=ADDRESS) == [None] * 4


def test_a_day_without_its_year_is_that_of_the_time_element():
    page = cards("<time datetime=2026-03-0{n}T18:00>0{n}.03.</time> <a href=/e/{n}>{name} fair</a>").replace(
        "-00T", "-09T"
    )
    days = ["2026-03-09", "2026-03-01", "2026-03-02", "2026-03-03"]
    assert column(page, "date", title=TEXT, date=DAY, url=ADDRESS) == days


def test_the_text_of_a_time_element_is_read_where_it_is_a_day():
    page = cards("<time datetime=2026-03-05>March 4, 2026</time> <a href=/e/{n}>{name} fair</a>")
    assert column(page, "date", title=TEXT, date=DAY, url=ADDRESS) == ["2026-03-04"] * 4


def test_stars_are_read_by_what_screen_readers_say():
    page = cards(
        "<b class=author>{name} Wood</b> <span class=stars aria-label='{n} out of 5 stars'>★★★</span><p>It is {name}."
    )
    assert column(page, "rating", author=TEXT, rating=NUMBER) == [f"{n} out of 5 stars" for n in range(4)]


def test_a_number_is_named_by_the_word_behind_it():
    page = cards("<h3><a href=/t/{n}>{name} again</a></h3><p>1{n} points | 2{n} comments")
    asked = {"title": TEXT, "points": NUMBER, "comments": NUMBER}
    assert column(page, "points", **asked) == ["10", "11", "12", "13"]
    assert column(page, "comments", **asked) == ["20", "21", "22", "23"]


@pytest.mark.parametrize("said", ["By {name} Wood", "von {name} Wood", "Posted by {name} Wood"])
def test_a_name_after_by_is_the_author(said: str):
    page = cards(f"<h3><a href=/t/{{n}}>{{name}} again</a></h3><span>{said}</span>")
    assert column(page, "author", title=TEXT, author=TEXT) == [f"{name} Wood" for name in WOODS]


@pytest.mark.parametrize(
    ("name", "value"), [("email", "{name}@a.example"), ("phone", "+49 30 12345{n}"), ("time", "1{n}:30")]
)
def test_a_form_that_only_one_kind_of_value_has_names_it(name: str, value: str):
    page = cards(f"<h3>{{name}} Wood</h3><p>{value}</p><p>Of {{name}} it is said that it is hard.</p>")
    assert column(page, name, **{"title": TEXT, name: TEXT}) == [
        value.format(n=n, name=wood) for n, wood in enumerate(WOODS)
    ]


def test_small_text_in_the_rows_does_not_part_a_list_with_several_parents():
    days = {"March 2, 2026": WOODS[:2], "March 3, 2026": WOODS[2:]}
    lists = {
        day: "".join(f"<li><span class=time>1{n}:00</span> <b>{w} talk</b> <i>Hall</i>" for n, w in enumerate(woods))
        for day, woods in days.items()
    }
    page = "".join(f"<h3>{day}</h3><ul>{items}</ul>" for day, items in lists.items())
    read = rows(list_of(page, title=TEXT, time=TEXT, date=DAY))
    assert [(row["title"], row["date"]) for row in read] == [
        (f"{wood} talk", f"2026-03-0{2 + n // 2}") for n, wood in enumerate(WOODS)
    ]


def test_a_term_that_all_records_have_is_no_name():
    page = cards("<h3>{name} Wood</h3><dl><dt>Phone<dd>030 1234{n}<dt>Address<dd>{n} Main street</dl>")
    assert column(page, "name", name=TEXT, phone=TEXT, address=TEXT) == [f"{wood} Wood" for wood in WOODS]


def test_a_table_of_blocks_has_the_header_that_a_class_calls_so():
    body = "".join(
        f"<div class=row><div>{wood}</div><div>Kind {n}</div><div>B{n}</div></div>" for n, wood in enumerate(WOODS)
    )
    page = f"<div class=table><div class='row header'><div>Name</div><div>Role</div><div>Room</div></div>{body}</div>"
    assert rows(list_of(page, name=TEXT, role=TEXT, room=TEXT)) == [
        {"name": wood, "role": f"Kind {n}", "room": f"B{n}"} for n, wood in enumerate(WOODS)
    ]


@pytest.mark.parametrize("part", ["<h3>{}</h3><p>{}</p>", "<div><h4>{}</h4><div><p>{}</p></div></div>"])
def test_a_heading_and_its_text_are_a_question_and_its_answer(part: str):
    asked = [(f"What is {wood}?", f"{wood} is a wood that grows here.") for wood in WOODS]
    page = f"<h1>Help</h1><div class=faq>{''.join(part.format(*pair) for pair in asked)}</div>"
    assert [(row["question"], row["answer"]) for row in rows(list_of(page, question=TEXT, answer=TEXT))] == asked


@pytest.mark.parametrize("said", ["5 points by <a href=/u/{name}>{name}</a> | 3 comments", "von <b>{name}</b>"])
def test_what_stands_behind_by_in_a_line_is_the_author(said: str):
    page = cards(f"<h3><a href=/t/{{n}}>{{name}} again</a></h3><p>{said}</p>")
    assert column(page, "author", title=TEXT, author=TEXT) == list(WOODS)


def test_a_card_with_a_header_is_no_table():
    inside = (
        "<div class=card-header><h3>{name} lamp</h3><i>No. {n}</i></div>"
        "<div class=card-body><p class=maker>House {name}</p><p class=price>€1{n}.50</p></div>"
        "<div class=card-footer><a href=/p/{n}>View</a><a href=/b/{n}>Buy</a></div>"
    )
    asked = {"name": TEXT, "maker": TEXT, "price": NUMBER}
    assert column(cards(inside), "name", **asked) == [f"{name} lamp" for name in WOODS]
    assert column(cards(inside), "maker", **asked) == [f"House {name}" for name in WOODS]


def test_rows_of_two_classes_that_take_turns_are_one_record():
    pairs = "".join(
        f"<tr class=thing><td>{n}.<td><a href=https://b.example/{n}>{wood} again</a>"
        f"<tr><td><td>1{n} points by <a href=/u/{wood}>{wood}</a> | <a href=/c/{n}>2{n} comments</a>"
        for n, wood in enumerate(WOODS)
    )
    asked = {"title": TEXT, "author": TEXT, "points": NUMBER, "comments": NUMBER, "url": ADDRESS}
    assert rows(list_of(f"<h1>News</h1><table>{pairs}</table>", **asked)) == [
        {
            "title": f"{wood} again",
            "author": wood,
            "points": f"1{n}",
            "comments": f"2{n}",
            "url": f"https://b.example/{n}",
        }
        for n, wood in enumerate(WOODS)
    ]


@pytest.mark.parametrize("old", ["<del>€9{n}.00</del>", "<s>€9{n}.00</s>", "<span class=old-price>€9{n}.00</span>"])
def test_a_price_that_is_struck_out_is_none(old: str):
    page = cards(f"<a href=/p/{{n}}>{{name}} lamp</a> {old} <ins>€1{{n}}.50</ins>")
    assert column(page, "price", name=TEXT, price=NUMBER) == [f"€1{n}.50" for n in range(4)]


def test_an_amount_of_money_is_no_other_number():
    page = cards("<h2><a href=/f/{n}>Flat in {name}</a></h2><p class=price>€9{n}0 / month</p><p>4{n} m²</p>")
    asked = {"title": TEXT, "price": NUMBER, "area_m2": NUMBER, "url": ADDRESS}
    assert [price and price.strip() for price in column(page, "price", **asked)] == [f"€9{n}0" for n in range(4)]
    assert column(page, "area_m2", **asked) == [None] * 4


@pytest.mark.parametrize("title", ["1{n}. {name} of old", "{name} wood 10{n}"])
def test_a_short_number_is_part_of_a_title(title: str):
    page = cards(f"<h3><a href=/e/{{n}}>{title}</a></h3><p>2{{n}} min · March {{n}}, 2026").replace("h 0,", "h 9,")
    titles = [title.format(n=n, name=wood) for n, wood in enumerate(WOODS)]
    assert column(page, "title", title=TEXT, date=DAY, url=ADDRESS) == titles


@pytest.mark.parametrize(
    ("said", "number"), [("12 comments", "12"), ("1.2K comments", "1200"), ("3M comments", "3000000")]
)
def test_thousands_and_millions_are_written_out(said: str, number: str):
    page = cards(f"<h3><a href=/e/{{n}}>{{name}} again</a></h3><p>{said} | {{n}} shares")
    assert column(page, "comments", title=TEXT, comments=NUMBER, url=ADDRESS) == [number] * 4


def test_what_names_the_first_value_of_a_line_names_not_the_line():
    page = cards(
        "<h2><a href=/o/{n}>{name} tool</a></h2>"
        "<div><span itemprop=language>Lang{name}</span> <b>{n},234</b> more</div>"
    )
    assert column(page, "language", name=TEXT, language=TEXT, url=ADDRESS) == [f"Lang{name}" for name in WOODS]


@pytest.mark.parametrize("address", ["http://[0", "javascript:alert(0)", "data:image/gif;base64,R0lGODlhAQABAAAAACw="])
def test_what_is_no_address_of_a_picture_is_none(address: str):
    page = cards(f"<img src='{address}'><h3><a href=/p/{{n}}>{{name}} lamp</a></h3><p>It is {{name}}.")
    assert column(page, "image", name=TEXT, url=ADDRESS, image=ADDRESS) == [None] * 4


def test_a_record_without_a_picture_is_a_record():
    page = cards("<img src=/i/{n}.jpg><h3>{name} lamp</h3>").replace("<img src=/i/2.jpg>", "")
    assert column(page, "image", name=TEXT, image=ADDRESS) == [*PICTURES[:2], None, PICTURES[3]]


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("1 204 comments", "1204"),
        ("1\u202f204 comments", "1204"),
        ("9.5 – 12 comments", None),
        ("1–4 comments", None),
        ("4 comments today, 12 comments in all", None),
        ("1,200K comments", None),
        ("150m comments", None),
    ],
)
def test_a_part_of_a_number_is_no_count(said: str, number: str | None):
    page = cards(f"<h3><a href=/e/{{n}}>{{name}} again</a></h3><p>{said} | {{n}} shares")
    assert column(page, "comments", title=TEXT, comments=NUMBER, url=ADDRESS) == [number] * 4


@pytest.mark.parametrize("name", ["Jean-Luc le Grand", "Ann Fox on the Hill", "Uwe in der Au"])
def test_a_name_after_by_is_whole(name: str):
    page = cards(f"<h3><a href=/t/{{n}}>{{name}} again</a></h3><span>By {name} · {{n}} days ago</span>")
    assert column(page, "author", title=TEXT, author=TEXT) == [name] * 4


@pytest.mark.parametrize(
    "said",
    [
        "von 9 Uhr bis 12 Uhr",
        "By bus from {name}",
        "Sold by <a href=/s/{n}>{name} shop</a>",
        "Translated by <b>{name}</b>",
    ],
)
def test_what_is_no_author_is_none(said: str):
    page = cards(f"<h3><a href=/t/{{n}}>{{name}} again</a></h3><p>{said}</p><p>{{n}} days ago, in {{name}}.")
    assert column(page, "author", title=TEXT, author=TEXT, url=ADDRESS) == [None] * 4


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("phone", "<p>1011{n}</p>"),
        ("phone", "<p class=views>10 452 45{n}</p>"),
        ("phone", "<p>2000-201{n}</p>"),
        ("fax_phone", "<p>+49 30 12345{n}</p>"),
        ("delivery_time", "<p class=price>10.5{n}</p>"),
    ],
)
def test_a_form_that_other_values_have_too_names_nothing(name: str, part: str):
    page = cards(f"<h3><a href=/p/{{n}}>{{name}} Wood</a></h3>{part}<p>Of {{name}} it is said that it is hard.</p>")
    assert column(page, name, **{"title": TEXT, name: TEXT, "url": ADDRESS}) == [None] * 4


def test_the_number_of_what_a_name_holds_is_no_part_of_it():
    page = cards("<h3><a href=/c/{n}>Old {name} (1{n})</a></h3>")
    assert column(page, "name", name=TEXT, url=ADDRESS) == [f"Old {name}" for name in WOODS]


def test_a_row_of_brackets_takes_no_time():
    page = cards("<h3><a href=/c/{n}>{name} lamp</a></h3><p>{n} 1 b").replace("1 b", f"1 b {'(' * 20_000} 2 c")
    began = time.process_time()
    list_of(page, name=TEXT, url=ADDRESS)
    assert time.process_time() - began < 5


def test_a_version_in_a_heading_comes_before_codes_beside_it():
    page = cards(
        "<h2><a href=/r/{n}>v1.{n}.0</a></h2><time datetime=2026-01-1{n}T10:00>{n} days ago</time>"
        "<a href=/u/x{n}><img alt=@x{n} src=/a/{n}.png> x{n}</a><p>Mends {name} and more of that kind."
    )
    assert rows(list_of(page, version=TEXT, date=DAY, url=ADDRESS)) == [
        {"version": f"v1.{n}.0", "date": f"2026-01-1{n}", "url": f"https://site.example/r/{n}"} for n in range(4)
    ]
