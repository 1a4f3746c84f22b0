"""Lists and records of applications: avatars, states of rows, sums, forms, parts that offer actions."""

from __future__ import annotations

import time

import pytest

from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, record_of, rows, table_of

PEOPLE = (
    ("Ann Lee", "ann@site.example", "Editor"),
    ("Bo Day", "bo@site.example", "Guest"),
    ("Cy Fox", "cy@a.example", "Owner"),
)


def people(cell: str) -> str:
    """A table of people: one cell with name and address, as `cell` has them, and one with the role."""
    body = "".join(f"<tr><td>{cell.format(name, mail)}<td>{role}" for name, mail, role in PEOPLE)
    return f"<table><thead><tr><th>User<th>Role<tbody>{body}</table>"


def plans(state: str) -> str:
    """Six buttons, each with another one behind it; the second and the fifth have a class more."""
    entries = "".join(
        f"<button class='item{f' {state}' * (place in (1, 4))}'><div class=name>Plan {name}</div><div class=meta>"
        f"Mar {place + 2}, 2026</div></button><button class=menu aria-label=More></button>"
        for place, name in enumerate(("A", "Red", "Blue", "Oak", "Tin", "Ash"))
    )
    return f"<div>{entries}</div>"


class TestAList:
    def test_has_names_without_the_initials_in_place_of_a_picture(self) -> None:
        page = people("<div class=cell-avatar>{0[0]}X</div> <b>{0}</b>")
        found = rows(list_of(page, user=TEXT, role=TEXT))
        assert found == [{"user": name, "role": role} for name, _, role in PEOPLE]

    def test_takes_no_longer_for_many_avatars_in_each_other(self) -> None:
        """Each of them once looked at all text in it."""

        def seconds(name: str) -> float:
            began = time.process_time()
            list_of(f"<div class={name}>" * 1_500 + "word " * 60_000 + "</div>" * 1_500, name=TEXT, email=TEXT)
            return time.process_time() - began

        assert seconds("avatar") < 4 * seconds("other")

    def test_has_the_address_of_mail_beside_a_name_in_one_cell(self) -> None:
        page = people("<div class=who><div class=strong>{}</div><div>{}</div></div>")
        found = rows(list_of(page, user=TEXT, email=TEXT, role=TEXT))
        assert found == [dict(zip(("user", "email", "role"), each, strict=True)) for each in PEOPLE]

    def test_takes_no_address_of_mail_for_a_name(self) -> None:
        page = people("<div class=who><div>{1}</div></div>")
        assert rows(list_of(page, name=TEXT, role=TEXT)) == []

    def test_takes_no_moment_for_a_name(self) -> None:
        subjects = ("Road", "5 mins ago"), ("Bridge", "2 hours ago"), ("School", "a day ago"), ("Sea", "just now")
        body = "".join(f"<tr><td class=subject>{subject} plan<td>{moment}" for subject, moment in subjects)
        assert not [row for row in rows(list_of(f"<table>{body}</table>", name=TEXT, subject=TEXT)) if "name" in row]

    def test_has_nothing_that_only_a_word_beside_its_own_names(self) -> None:
        body = "".join(f"<tr><td class=who><a href=/read/{at}>{name}</a><td class=subject>Plan {at}"
                       for at, (name, *_) in enumerate(PEOPLE))  # fmt: skip
        found = rows(list_of(f"<table>{body}</table>", subject=TEXT, attachment=TEXT))
        assert not [row for row in found if "attachment" in row]

    def test_is_no_menu_whose_class_says_so(self) -> None:
        entries = "".join(f"<li><a href=/{at}>Part {at}</a><ul><li><a href=/{at}/a>All {at}</a></ul>" for at in "abc")
        cards = "".join(f"<div class=card><h4>{name}</h4><p>{role}</p></div>" for name, _, role in PEOPLE)
        page = f"<div class='main_menu hidden-print'><ul>{entries}</ul></div>{cards}"
        assert "Part a" not in {row["name"] for row in rows(list_of(page, name=TEXT))}

    def test_has_no_address_of_mail_in_the_next_text_behind_its_name(self) -> None:
        cells = ("Mark", "Anna"), ("Luke", "Dora"), ("Sara", "Cleo"), ("Bob", "Ivy")
        person = "<td><b>{}</b><br><a href='javascript:write()'>E-Mail</a><br></td>"
        page = "".join(f"<tr>{person.format(left)}{person.format(right)}</tr>" for left, right in cells)
        found = rows(list_of(f"<table>{page}</table>", name=TEXT, email=TEXT))
        assert not [row for row in found if "@" not in row.get("email", "@")]

    def test_has_the_few_addresses_of_a_column_of_mail(self) -> None:
        table = table_of("Name|E-mail|Role", "Ann Lee|—|Editor", "Bo Day|n/a|Guest", "Cy Fox|cy@a.example|Owner")
        found = rows(list_of(table, name=TEXT, email=TEXT, role=TEXT))
        assert found[2] == {"name": "Cy Fox", "email": "cy@a.example", "role": "Owner"}

    def test_has_subjects_without_the_label_that_style_sets_apart(self) -> None:
        pills = ("work", "", "home", "work")
        page = "".join(
            f"<div class=item><div class=sender>{name}</div><div class=subject>Plan for {name.split()[0]}"
            f"{f'<span class=pill>{pill}</span>' * bool(pill)}</div></div>"
            for (name, *_), pill in zip((*PEOPLE, ("Di Orr",)), pills, strict=True)
        )
        found = rows(list_of(page, sender=TEXT, subject=TEXT))
        assert [row["subject"] for row in found] == ["Plan for Ann", "Plan for Bo", "Plan for Cy", "Plan for Di"]

    @pytest.mark.parametrize("state", ["starred", "unread", "is-selected", "item--pinned"])
    def test_has_the_entries_that_are_in_another_state(self, state: str) -> None:
        found = list_of(plans(state), name=TEXT, modified=DAY)
        assert [row["modified"] for row in rows(found)] == [f"2026-03-0{day}" for day in range(2, 8)]
        assert not found.left_out

    @pytest.mark.parametrize("name", ["read-more", "new-tab"])
    def test_keeps_apart_what_a_class_with_more_words_names(self, name: str) -> None:
        page = "".join(
            f"<div class=card><a class={name} href=/{at}>More</a><a href=/p/{at}>Plan {title}</a></div>"
            for at, title in enumerate(("Red", "Blue", "Oak"))
        )
        found = rows(list_of(page, title=TEXT, url=ADDRESS))
        assert [row["url"] for row in found] == [f"https://site.example/p/{at}" for at in range(3)]

    def test_is_not_whole_without_the_entries_of_another_class(self) -> None:
        found = list_of(plans("of-partners"), name=TEXT, modified=DAY)
        assert len(found.records) == 4
        assert "another list of such records, with 2 entries" in found.left_out

    @pytest.mark.parametrize("label", ["Subtotal", "VAT due", "To be paid"])
    def test_has_no_sum_at_the_end_of_a_table(self, label: str) -> None:
        table = table_of("Product|Quantity|Amount", "Lamp|1|$8.00", "Chair|2|$30.00", "Desk|1|$90.00")
        foot = f"<tr><td colspan=2>{label}<td>$128.00</tr><tr><td colspan=2>Open<td>$28.00</tr>"
        found = list_of(table.replace("</tbody>", f"{foot}</tbody>"), product=TEXT, quantity=NUMBER, amount=NUMBER)
        assert [row["product"] for row in rows(found)] == ["Lamp", "Chair", "Desk"]
        assert not found.left_out

    def test_has_no_value_of_another_entry_for_an_empty_one(self) -> None:
        written = "<h2>{}</h2><ul><li>Address: {} Road<li>Room: </ul><div><p><a href=/r>4.0</a></p></div>"
        page = "".join(f"<div class=card>{written.format(name, role)}</div>" for name, _, role in PEOPLE)
        found = rows(list_of(page, name=TEXT, address=TEXT, room=TEXT))
        assert found == [{"name": name, "address": f"{role} Road"} for name, _, role in PEOPLE]

    def test_is_the_rows_of_one_of_several_tables_with_the_same_headers(self) -> None:
        table = table_of("Task|Progress|Label", *(f"{task}||{share}%" for task, share in (("Clean", 5), ("Move", 7))))
        other = table_of("Name|Age", "Ann|5", "Bo|7")
        page = "".join(f"<div class=card><h3>Table {at}</h3>{table if at % 2 else other}</div>" for at in range(8))
        found = rows(list_of(page, task=TEXT, progress=TEXT, label=TEXT))
        assert found == [{"task": "Clean", "label": "5%"}, {"task": "Move", "label": "7%"}]

    def test_has_the_price_beside_one_that_a_class_strikes_through(self) -> None:
        old = "<span class='text-decoration-line-through'>$20.00</span>"
        page = "".join(
            f"<div class=card><h5>{name}</h5>{old * place} $1{place}.00</div>"
            for place, (name, *_) in enumerate(PEOPLE)
        )
        found = rows(list_of(page, name=TEXT, price=NUMBER))
        assert [row["price"] for row in found] == ["$10.00", "$11.00", "$12.00"]


class TestARecord:
    def test_has_no_labels_of_a_forms_other_fields(self) -> None:
        fields = "".join(f"<div><label>{label}</label><input></div>" for label in ("City", "Country", "Postal code"))
        page = f"<h1>Ann Lee</h1><form><div>{fields}</div></form>"
        assert record_of(page, city=TEXT).value == {}

    def test_has_the_value_beside_what_can_be_done_with_it(self) -> None:
        actions = "<dd class=list__actions><a href=#>Edit contact</a> <a href=#>Delete contact</a></dd>"
        page = f"<h1>Ann Lee</h1><dl><div><dt>Contact</dt><dd>12 Oak Road</dd>{actions}</div></dl>"
        assert record_of(page, contact=TEXT).value == {"contact": "12 Oak Road"}

    def test_has_no_amount_of_the_figures_of_a_code(self) -> None:
        page = "<h1>Invoice 7</h1><p><b>VAT:</b> PL6541215450</p><p><b>Total:</b> Rs45000</p>"
        assert record_of(page, vat=NUMBER, total=NUMBER).value == {"total": 45000}

    def test_is_not_called_what_it_costs(self) -> None:
        assert record_of("<h3>Oak lamp</h3><h1>$80.00</h1>", name=TEXT).value == {}

    @pytest.mark.parametrize(
        "line",
        [
            "Posted by <a href=/a>Ann Lee</a> on March 2, 2026",
            "Posted on March 2, 2026 by Ann Lee",
            "Publié le 2 mars 2026 par Ann Lee",
        ],
    )
    def test_has_who_posted_it_and_when(self, line: str) -> None:
        found = record_of(f"<h1>On roads</h1><p>{line}</p>", author=TEXT, date=DAY)
        assert found.value == {"author": "Ann Lee", "date": "2026-03-02"}

    def test_has_no_author_in_who_reviewed_it(self) -> None:
        page = "<h1>On roads</h1><p>Reviewed by Ann Lee on March 2, 2026</p>"
        assert record_of(page, author=TEXT).value == {}

    @pytest.mark.parametrize(
        ("byline", "author"),
        [
            ("Ann Lee Tuesday, Aug. 17, 2010", "Ann Lee"),
            ("Ann Lee, publiziert am 25. September 2018", "Ann Lee"),
            ("9:39AM BST 05 Oct 2011", None),
            ("1 Book 8 Posts 0 Threads Ann", None),
            ("Ann is a writer of many books on roads, bridges, schools and the sea, and lives in Porto", None),
        ],
    )
    def test_has_who_wrote_without_when_and_who_that_is(self, byline: str, author: str | None) -> None:
        page = f"<h1>On roads</h1><div class=author>{byline}</div><p>We meet in the hall at ten.</p>"
        assert record_of(page, author=TEXT).value.get("author") == author

    @pytest.mark.parametrize(
        "picture",
        ["src=/i/Site_Logo.gif id=a", "src=/a.png id=site-logo", "src=//stats.example/o.gif width=1 height=1 id=s"],
    )
    def test_has_no_picture_in_a_sites_logo_or_what_counts_visits(self, picture: str) -> None:
        page = f"<h1>On roads</h1><img {picture}><p>We meet in the hall at ten.</p>"
        assert record_of(page, image=ADDRESS).value == {}

    def test_has_a_logo_that_is_asked_for(self) -> None:
        page = "<h1>Oak Ltd.</h1><img class=logo src=/i/oak_logo.gif>"
        assert record_of(page, logo=ADDRESS).value == {"logo": "https://site.example/i/oak_logo.gif"}

    @pytest.mark.parametrize(("text", "phone"), [("Fax", None), ("112", "112"), ("+43 1 234 56 78", "+43 1 234 56 78")])
    def test_has_a_number_to_call_that_has_figures(self, text: str, phone: str | None) -> None:
        page = f"<h1>Ann Lee</h1><dl><dt>Phone<dd>{text}<dt>City<dd>Vienna</dl>"
        assert record_of(page, phone=TEXT).value.get("phone") == phone

    @pytest.mark.parametrize(
        "stat", ["<h6>{0}</h6><p>{1}</p>", "<div>{0}</div><div>{1}</div>", "<span>{0}</span><span>{1}</span>"]
    )
    def test_has_figures_above_their_names(self, stat: str) -> None:
        stats = "".join(f"<div>{stat.format(*each)}</div>" for each in (("2,905", "Followers"), ("1,200", "Following")))
        found = record_of(f"<h1>Ann Lee</h1>{stats}", followers=NUMBER, following=NUMBER)
        assert found.value == {"followers": 2905, "following": 1200}

    @pytest.mark.parametrize(("names", "weight"), [(("Size", "Weight", "Price"), None), (("Rooms", "Weight"), 2)])
    def test_has_no_figure_that_numbers_what_stands_behind_it(self, names: tuple[str, ...], weight: int | None) -> None:
        parts = "".join(f"<div><div>{at}</div><div>{name}</div></div>" for at, name in enumerate(names, 1))
        assert record_of(f"<h1>Lamp</h1>{parts}", weight=NUMBER).value.get("weight") == weight

    def test_has_paragraphs_that_name_and_state_in_turns(self) -> None:
        page = (
            "<h1>Ann Lee</h1><div><h5>Contact</h5><p class=name>Phone number</p><p>+1 222 333 4444</p>"
            "<p class=name>Birthday</p><p>Nov 15, 1990</p><p class=name>Networks</p><p class=links>a b</p></div>"
        )
        found = record_of(page, phone_number=TEXT, birthday=DAY)
        assert found.value == {"phone_number": "+1 222 333 4444", "birthday": "1990-11-15"}

    def test_has_words_apart_that_stand_in_elements_of_their_own(self) -> None:
        card = "<div>Ann Lee</div><div><span class=name>Email</span><a href=/m>ann@site.example</a></div>"
        page = f"<h1>Order 7</h1><div><div>Customer</div><div>{card}</div></div>"
        assert record_of(page, customer=TEXT).value == {"customer": "Ann Lee Email ann@site.example"}

    def test_has_a_value_behind_a_point(self) -> None:
        page = "<h1>Site</h1><div><span>Client</span> · <strong>Oak Ltd</strong></div>"
        assert record_of(page, client=TEXT).value == {"client": "Oak Ltd"}
