"""What the rules and the reader of the page's tree say of one field, joined."""

from __future__ import annotations

from shoal.agent.policies.rules.fields.tree_reading import joined

from shoal.agent.read.schema import properties_of
from shoal.agent.read.shown.choosing import FieldAnswer
from shoal.agent.types import FieldCandidate, FieldSource, Reason
from tests.unit.read.pages import NUMBER, TEXT, record_of

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
