"""Small lists of kinds that no page of a court has: shops, timetables, files, phone books, sums, spans of days."""

from __future__ import annotations

from typing import ClassVar

from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, rows

INTEGER = {"type": "integer"}
WOODS = (
    ("Oak", "€ 5.00", "A heavy wood for tables and floors."),
    ("Pine", "€ 2.00", "A soft wood for boxes and shelves."),
    ("Beech", "€ 3.00", "A hard wood that bends when steamed."),
    ("Ash", "€ 4.00", "A tough wood for handles of tools."),
)
FILES = (
    ("report.pdf", "2024-03-01", "1.2M"),
    ("data.csv", "2024-03-04", "340K"),
    ("notes.txt", "2024-02-11", "2.1K"),
    ("photo.jpg", "2024-01-30", "4.7M"),
)
PEOPLE = (
    ("Meier, Anna", "044 123 45 67", "anna@ex.example", "Sales"),
    ("Keller, Ben", "044 123 45 68", "ben@ex.example", "IT"),
    ("Frey, Carla", "044 123 45 69", "carla@ex.example", "Legal"),
)
SPANS = (
    ("Jazz night", "12 May 2024", "14 May 2024"),
    ("Rock night", "1 June 2024", "2 June 2024"),
    ("Pop night", "9 July 2024", "12 July 2024"),
)


class TestSiblings:
    """Records without an element of their own."""

    TRUTH: ClassVar = [
        {"name": name, "price": price, "description": text, "image": f"https://site.example/i/{name}.jpg"}
        for name, price, text in WOODS
    ]
    FIELDS: ClassVar = {"name": TEXT, "price": NUMBER, "description": TEXT, "image": ADDRESS}

    def test_a_picture_before_its_heading(self):
        page = "".join(f"<img src='/i/{n}.jpg'><h3>{n}</h3><p>{text}</p><p>{p}</p>" for n, p, text in WOODS)
        assert rows(list_of(f"<main>{page}</main>", **self.FIELDS)) == self.TRUTH

    def test_a_picture_behind_its_heading(self):
        page = "".join(f"<h3>{n}</h3><img src='/i/{n}.jpg'><p>{text}</p><p>{p}</p>" for n, p, text in WOODS)
        assert rows(list_of(f"<main>{page}</main>", **self.FIELDS)) == self.TRUTH

    def test_a_short_heading_is_the_name_and_not_the_text_below(self):
        page = "".join(f"<h3>{n}</h3><p>{text[:14]}.</p><p>{p}</p>" for n, p, text in WOODS)
        found = rows(list_of(f"<main>{page}</main>", name=TEXT, price=NUMBER))
        assert [row.get("name") for row in found] == [name for name, _, _ in WOODS]


class TestFiles:
    FIELDS: ClassVar = {"name": TEXT, "size": TEXT, "modified": DAY, "url": ADDRESS}

    @staticmethod
    def truth(size: bool) -> list[dict[str, str]]:
        return [
            {"name": n, "modified": d, "url": f"https://site.example/pages/{n}"} | ({"size": s} if size else {})
            for n, d, s in FILES
        ]

    def test_lines_of_preformatted_text(self):
        lines = "".join(f"<a href='{n}'>{n}</a>      {d} 10:15  {s}\n" for n, d, s in FILES)
        page = f"<h1>Index of /pub</h1><pre><a href='../'>Parent Directory</a>\n{lines}</pre>"
        assert rows(list_of(page, **self.FIELDS)) == self.truth(size=False)

    def test_the_folder_above_is_no_file(self):
        cells = "".join(f"<tr><td><a href='{n}'>{n}</a></td><td>{d} 10:15</td><td>{s}</td></tr>" for n, d, s in FILES)
        page = "<table><tr><th>Name</th><th>Last modified</th><th>Size</th></tr>"
        page += f"<tr><td><a href='/'>Parent Directory</a></td><td></td><td>-</td></tr>{cells}</table>"
        reading = list_of(page, **self.FIELDS)
        assert (rows(reading), reading.left_out) == (self.truth(size=True), "")


class TestSpansOfDays:
    TRUTH: ClassVar = [
        {"title": "Jazz night", "start": "2024-05-12", "end": "2024-05-14"},
        {"title": "Rock night", "start": "2024-06-01", "end": "2024-06-02"},
        {"title": "Pop night", "start": "2024-07-09", "end": "2024-07-12"},
    ]

    def test_from_and_to_say_which_day_begins(self):
        page = "".join(f"<li><h3>{n}</h3><p>From {first} to {last}</p></li>" for n, first, last in SPANS)
        assert rows(list_of(f"<ul>{page}</ul>", title=TEXT, start=DAY, end=DAY)) == self.TRUTH

    def test_two_days_that_nothing_names_are_withheld(self):
        page = "".join(f"<li><h3>{n}</h3><p>{first} / {last}</p></li>" for n, first, last in SPANS)
        found = rows(list_of(f"<ul>{page}</ul>", title=TEXT, opened=DAY, shut=DAY))
        assert found == [{"title": name} for name, _, _ in SPANS]


class TestSums:
    CELLS = "<tr><td>Paper</td><td>2</td><td>€ 10.00</td></tr><tr><td>Pens</td><td>5</td><td>€ 7.50</td></tr>"
    FIELDS: ClassVar = {"item": TEXT, "quantity": INTEGER, "amount": NUMBER}
    TRUTH: ClassVar = [
        {"item": "Paper", "quantity": "2", "amount": "€ 10.00"},
        {"item": "Pens", "quantity": "5", "amount": "€ 7.50"},
    ]

    def test_a_row_that_sums_up_is_no_record(self):
        page = f"<table><tr><th>Item</th><th>Qty</th><th>Amount</th></tr>{self.CELLS}"
        page += "<tr><td colspan=2>Total:</td><td>€ 17.50</td></tr></table>"
        reading = list_of(page, **self.FIELDS)
        assert rows(reading) == self.TRUTH
        assert reading.left_out == ""

    def test_a_tables_foot_is_no_other_list(self):
        page = f"<table><thead><tr><th>Item</th><th>Qty</th><th>Amount</th></tr></thead><tbody>{self.CELLS}</tbody>"
        page += "<tfoot><tr><td>All goods</td><td>7</td><td>€ 17.50</td></tr></tfoot></table>"
        reading = list_of(page, **self.FIELDS)
        assert rows(reading) == self.TRUTH
        assert reading.left_out == ""


class TestPartsSideBySide:
    def test_a_price_and_what_is_left_are_no_one_number(self):
        page = "".join(f"<li><b>{n}</b><span>{p}</span><span>{len(n)} left</span></li>" for n, p, _ in WOODS)
        found = rows(list_of(f"<ul>{page}</ul>", name=TEXT, price=NUMBER))
        assert found == [{"name": name, "price": price} for name, price, _ in WOODS]

    def test_a_small_line_below_is_no_part_of_a_cells_name(self):
        cells = "".join(f"<tr><td>{n}<br><small>{d}</small></td><td>{t}</td></tr>" for n, t, _, d in PEOPLE)
        page = f"<table><tr><th>Person</th><th>Phone</th></tr>{cells}</table>"
        found = rows(list_of(page, person=TEXT, phone=TEXT))
        assert found == [{"person": name, "phone": phone} for name, phone, _, _ in PEOPLE]


def test_a_phone_book_whose_columns_are_called_otherwise():
    cells = "".join(
        f"<tr><td>{n}</td><td><a href='tel:{t}'>{t}</a></td><td><a href='mailto:{m}'>{m}</a></td><td>{d}</td></tr>"
        for n, t, m, d in PEOPLE
    )
    page = f"<table><tr><th>Name</th><th>Telephone</th><th>E-mail</th><th>Dept.</th></tr>{cells}</table>"
    found = rows(list_of(page, name=TEXT, phone=TEXT, email=TEXT, department=TEXT))
    assert found == [{"name": n, "phone": t, "email": m, "department": d} for n, t, m, d in PEOPLE]


def test_an_unnamed_text_is_not_what_a_sign_says():
    said = (
        ("anna", 5, "Great desk, holds two screens."),
        ("ben", 2, "Scratched, and late."),
        ("eva", 4, "Good for it."),
    )
    page = "".join(
        f"<div class=review><strong>{who}</strong><span role=img aria-label='Rated {stars} out of 5'>★★★</span>"
        f"<p>{text}</p></div>"
        for who, stars, text in said
    )
    found = rows(list_of(page, rating=NUMBER, text=TEXT))
    assert found == [{"rating": f"Rated {stars} out of 5", "text": text} for _, stars, text in said]
