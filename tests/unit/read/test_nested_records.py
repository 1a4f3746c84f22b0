"""Records that stand in others of their kind, as the answers to a comment do."""

from __future__ import annotations

import time

import pytest

from tests.unit.read.pages import DAY, NUMBER, TEXT, list_of, rows

WOODS = ("Ash", "Birch", "Cedar", "Elm", "Fir", "Gum", "Hazel", "Ivy")


class TestRecordsInRecords:
    @staticmethod
    def comment(tag: str, author: str, day: int, *answers: str) -> str:
        inner = f"<b class=author>{author}</b><time>2024-01-{day:02}</time><p>Words of {author}.</p>"
        held = f"<div class=replies>{''.join(answers)}</div>" if answers else ""
        return f"<{tag} class='comment depth-{len(answers)}'>{inner}{held}</{tag}>"

    @pytest.mark.parametrize("tag", ["div", "article", "section"])
    def test_answers_are_records_of_the_same_list(self, tag: str):
        answer = self.comment(tag, "Bob", 2, self.comment(tag, "Cy", 3))
        page = f"<div>{self.comment(tag, 'Ann', 1, '<!-- the oldest -->', answer)}{self.comment(tag, 'Eve', 4)}</div>"
        reading = list_of(page, author=TEXT, date=DAY, text=TEXT)
        assert rows(reading) == [
            {"author": name, "date": f"2024-01-0{day}", "text": f"Words of {name}."}
            for day, name in enumerate(("Ann", "Bob", "Cy", "Eve"), 1)
        ]
        assert reading.left_out == ""

    @pytest.mark.parametrize(
        ("outer", "inner"),
        [
            ("comment parent", "comment"),
            ("comment has-children", "comment by-owner"),
            ("comment box", "comment box new"),
        ],
    )
    def test_a_record_with_others_in_it_may_have_classes_of_its_own(self, outer: str, inner: str):
        def comment(classes: str, author: str, answers: str = "") -> str:
            return f"<li class='{classes}'><b class=author>{author}</b><p>Words of {author}.</p><ol>{answers}</ol></li>"

        page = f"<ol>{comment(outer, 'Ann', comment(inner, 'Bob'))}{comment(outer, 'Cy', comment(inner, 'Di'))}</ol>"
        found = rows(list_of(page, author=TEXT, text=TEXT))
        assert found == [{"author": name, "text": f"Words of {name}."} for name in ("Ann", "Bob", "Cy", "Di")]

    def test_a_class_that_few_of_the_records_have_is_none_of_their_kind(self):
        text = "<b class=author>{0}</b><p>Words of {0}.</p>"
        page = "".join(
            f"<li class='comment {'by-owner' if name in 'Cy Di' else ''}'>{text.format(name)}"
            f"<ol><li class=comment>{text.format(f'{name} Two')}</li></ol></li>"
            for name in ("Ann", "Bob", "Cy", "Di", "Eve", "Flo", "Gus")
        )
        reading = list_of(f"<ol>{page}</ol>", author=TEXT, text=TEXT)
        assert "Cy Two" in [row["author"] for row in rows(reading)]

    @pytest.mark.parametrize("day", ["<time>2024-01-0{1}</time>", ""])
    def test_answers_of_another_class_are_records_of_the_same_list_and_what_holds_them_is_none(self, day: str):
        """A site's owner answers each comment, in a list below it."""
        text = f"<article><b class=author>{{0}}</b>{day}<p>Words of {{0}}.</p></article>"
        answer = "<article><b class=author>{0} Owner</b><time>2024-02-0{1}</time><p>Words to {0}.</p></article>"
        page = "".join(
            f"<li class=comment>{text.format(name, n)}"
            f"<ol class=children><li class='comment by-owner'>{answer.format(name, n)}</li></ol></li>"
            for n, name in enumerate(WOODS, 1)
        )
        reading = list_of(f"<ol>{page}</ol>", author=TEXT, date=DAY, text=TEXT)
        assert [row["author"] for row in rows(reading)] == [f"{name}{who}" for name in WOODS for who in ("", " Owner")]
        assert reading.left_out == ""

    def test_a_class_that_parts_of_a_record_share_with_it_makes_none_of_them_a_record(self):
        cards = "".join(
            f"<li class='product clearfix'><h3><a href=/{name}>{name} lamp</a></h3><ul>"
            f"<li class='price clearfix'>{n}9.00 €</li><li class='stock clearfix'>{n}</li></ul></li>"
            for n, name in enumerate(WOODS, 1)
        )
        found = rows(list_of(f"<ul>{cards}</ul>", name=TEXT, price=NUMBER, stock=NUMBER))
        assert found == [
            {"name": f"{name} lamp", "price": f"{n}9.00 €", "stock": str(n)} for n, name in enumerate(WOODS, 1)
        ]

    def test_rows_of_a_layout_within_each_other_are_no_records_in_records(self):
        cards = "".join(
            f"<div class=col><div class=row><div class=col><h3><a href=/{name}>{name} lamp</a></h3></div>"
            f"<div class=col><span class=price>{n}9.00 €</span></div></div></div>"
            for n, name in enumerate(("Ash", "Birch", "Cedar", "Elm"), 1)
        )
        found = rows(list_of(f"<div class=row>{cards}</div>", name=TEXT, price=NUMBER))
        assert [row["name"] for row in found] == ["Ash lamp", "Birch lamp", "Cedar lamp", "Elm lamp"]
        assert [row["price"] for row in found] == ["19.00 €", "29.00 €", "39.00 €", "49.00 €"]

    def test_blocks_of_one_kind_in_a_block_of_it_are_no_records_of_its_list(self):
        group = "<div class=box><div class=inner>{}</div></div>"
        boxes = [
            f"<div class=box><h3><a href=/{name}>{name} lamp</a></h3><p>{n}9.00 €</p></div>"
            for n, name in enumerate(WOODS, 1)
        ]
        page = "<section>" + "".join(group.format("".join(boxes[at : at + 4])) for at in (0, 4)) + "</section>"
        assert [row["name"] for row in rows(list_of(page, name=TEXT, price=NUMBER))] == [
            f"{name} lamp" for name in WOODS
        ]

    def test_parts_of_an_entry_that_have_its_class_are_no_records(self):
        cards = "".join(
            f"<div class='card wide'><div class='card media'><h3><a href=/{name}>{name} lamp</a></h3></div>"
            f"<div class='card text'><p>{n}9.00 €</p></div></div>"
            for n, name in enumerate(WOODS, 1)
        )
        found = rows(list_of(f"<section>{cards}</section>", name=TEXT, price=NUMBER))
        assert found == [{"name": f"{name} lamp", "price": f"{n}9.00 €"} for n, name in enumerate(WOODS, 1)]

    def test_a_block_around_a_list_is_no_record_of_it(self):
        boxes = "".join(
            f"<div class=box><h3><a href=/{name}>{name} lamp</a></h3><p>{n}9.00 €</p></div>"
            for n, name in enumerate(WOODS, 1)
        )
        above = "<h3><a href=/lamps>Lamps</a></h3><p>19.00 €</p>"
        page = f"<main><div class=box>{above}<div class=list>{boxes}</div></div></main>"
        found = rows(list_of(page, name=TEXT, price=NUMBER))
        assert found == [{"name": f"{name} lamp", "price": f"{n}9.00 €"} for n, name in enumerate(WOODS, 1)]

    @pytest.mark.parametrize("above", ["<!-- answers -->", "<h4>2 answers</h4>", "<a href=#new>Answer</a>"])
    def test_what_stands_above_the_answers_is_none(self, above: str):
        answers = above + self.comment("div", "Bob", 2) + self.comment("div", "Cy", 3)
        page = f"<div>{self.comment('div', 'Ann', 1, answers)}{self.comment('div', 'Eve', 4)}</div>"
        assert [row.get("author") for row in rows(list_of(page, author=TEXT, date=DAY, text=TEXT))] == [
            *("Ann", "Bob", "Cy", "Eve")
        ]

    def test_many_answers_take_a_moment_each(self):
        spent = []
        for count in (150, 600):
            answers = "".join(self.comment("div", f"Ann {n}", 1 + n % 9) for n in range(count))
            page = f"<div>{self.comment('div', 'Bob', 1, answers)}{self.comment('div', 'Cy', 2)}</div>"
            began = time.process_time()
            assert len(list_of(page, author=TEXT, date=DAY, text=TEXT).records) == count + 2
            spent.append(time.process_time() - began)
        assert spent[1] < 10 * spent[0], spent
