"""A page's documents as a DOM snapshot."""

from __future__ import annotations

from shoal.agent.gym.dom import FrameCopy, hidden_elements, snapshot

_PAGE = FrameCopy(
    "",
    [
        [-1, 9, "#document", "", [], 0],
        [0, 1, "LABEL", "", ["for", "name", "class", "wide"], 3],
        [1, 3, "#text", "Name", [], 0],
        [0, 1, "IFRAME", "", [], 5],
        [0, 1, "P", "", [], -7],
    ],
)
_INNER = FrameCopy("5", [[-1, 9, "#document", "", [], 0], [0, 1, "BUTTON", "", [], 1], [1, 3, "#text", "In", [], 0]])


def test_elements_keep_their_attributes_and_those_that_were_observed_have_an_id() -> None:
    made = snapshot({"": _PAGE, "a": _INNER}, {"3", "a1"})
    page, inner = (document["nodes"] for document in made["documents"])
    text = made["strings"]
    assert [text[part] for part in page["attributes"][1]] == ["bid", "3", "for", "name", "class", "wide"]
    assert page["attributes"][3] == [], "an element that was not observed has no id for actions"
    assert [text[part] for part in inner["attributes"][1]] == ["bid", "a1"]
    assert [text[page["nodeValue"][2]], page["nodeValue"][1]] == ["Name", -1]
    assert page["parentIndex"] == [-1, 0, 1, 0, 0]


def test_what_cannot_be_seen_has_an_id_that_says_so() -> None:
    documents = {"": _PAGE, "a": _INNER}
    assert hidden_elements(documents) == {"7": "p"}
    made = snapshot(documents, {"7"})
    assert [made["strings"][part] for part in made["documents"][0]["nodes"]["attributes"][4]] == ["bid", "7"]


def test_a_frame_says_which_document_it_holds() -> None:
    made = snapshot({"": _PAGE, "a": _INNER}, ())
    assert made["documents"][0]["nodes"]["contentDocumentIndex"] == {"index": [3], "value": [1]}
