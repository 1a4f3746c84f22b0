"""What the rules and the readers of the page's tree say of one field, joined; and lists by whichever states more."""

from __future__ import annotations

import pytest

from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.fields.choosing import FieldAnswer
from shoal.agent.policies.rules.fields.tree_reading import fuller, joined, list_extraction
from shoal.agent.read.schema import properties_of
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.types import FieldCandidate, FieldSource, Reason, Record
from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, record_of

SCRIPT = (
    '<script type="application/ld+json">{{"@type": "Product", "name": "Blue mug", "offers": {{"price": {}}}}}</script>'
)
NAME, PRICE = properties_of({"type": "object", "properties": {"name": TEXT, "price": NUMBER}})
STATED_AND_SHOWN = record_of(SCRIPT.format("7.50") + "<h1>Blue mug</h1><p>7.50 €</p>", name=TEXT, price=NUMBER)
STATED_ALONE = record_of(SCRIPT.format("9.90") + "<h1>Blue mug</h1><p>7.50 €</p>", name=TEXT, price=NUMBER)
NOTHING = record_of("<p>A page about nothing</p>", name=TEXT, price=NUMBER)


def told(value: object, sureness: str = "likely") -> FieldAnswer:
    return FieldAnswer(value, FieldSource("table", "td", True, sureness, Reason.ONE_PLACE))  # type: ignore[arg-type]


class TestOneField:
    def test_a_value_that_both_read_is_as_sure_as_the_surer_says(self):
        assert joined(told(7.5), STATED_AND_SHOWN, PRICE).source.sureness == "certain"
        assert joined(told("Blue mug", "certain"), STATED_AND_SHOWN, NAME).source.sureness == "certain"

    def test_what_one_of_them_reads_is_given(self):
        assert joined(FieldAnswer(), STATED_AND_SHOWN, PRICE).value == 7.5
        assert joined(told(7.5), NOTHING, PRICE) == told(7.5)

    def test_structured_data_that_the_page_bears_out_win_and_are_not_certain(self):
        answer = joined(told(70.0), STATED_AND_SHOWN, PRICE)
        assert (answer.value, answer.source.sureness, answer.source.confirmed) == (7.5, "likely", False)
        assert [candidate.value for candidate in answer.candidates] == [70.0]

    def test_structured_data_that_the_page_does_not_show_may_be_stale(self):
        assert joined(told(7.5), STATED_ALONE, PRICE) == told(7.5)

    def test_candidates_of_both_are_listed_once(self):
        answer = FieldAnswer(candidates=(FieldCandidate(8.0, "text", "8.00", "weak", Reason.AMBIGUOUS),))
        assert [each.value for each in joined(answer, NOTHING, PRICE).candidates] == [8.0]


NAMES = ("Ash v. Birch", "Cedar v. Elm", "Fir v. Hazel", "Larch v. Maple")
ROWS = "".join(
    f"<li><a href='/o/{n}.pdf'>{name}</a> <b>24-{100 + n}</b> January {n + 2}, 2024 <i>{n + 1}.50 €</i>"
    for n, name in enumerate(NAMES)
)
FIELDS = {
    "case_name": {**TEXT, "description": "the parties, such as Smith v. Jones"},
    "docket_number": {**TEXT, "description": "the court's number of the case"},
    "date_filed": DAY,
    "url": ADDRESS,
    "price": NUMBER,
}
PROPERTIES = properties_of({"type": "object", "properties": FIELDS})


class TestLists:
    def read(self, accept: str = "likely") -> Extraction:
        hints = ValueHints("en", "https://site.example/")
        return list_extraction(list_of(f"<ul>{ROWS}</ul>", **FIELDS), PROPERTIES, hints, "now", accept)  # type: ignore[arg-type]

    def test_values_are_those_that_the_schema_asks_for(self):
        assert self.read().records[1].value == {
            "case_name": "Cedar v. Elm",
            "docket_number": "24-101",
            "date_filed": "2024-01-03",
            "url": "https://site.example/o/1.pdf",
            "price": 2.5,
        }

    def test_each_value_says_where_it_stands(self):
        assert self.read().records[0].sources["docket_number"].where == "24-100"

    @pytest.mark.parametrize(("own", "wins"), [(0, "tree"), (1, "rules")])
    def test_the_tree_is_taken_where_the_rules_found_no_list(self, own, wins):
        source = FieldSource("table", "td", True)
        records = tuple(Record({"n": n}, dict.fromkeys("abcde", source)) for n in range(own))
        rules, tree = Extraction(records), self.read()
        assert fuller(rules, tree) is {"rules": rules, "tree": tree}[wins]
