"""The form whose answer can be seen once."""

from __future__ import annotations

from starlette.testclient import TestClient

GIVEN = {"full_name": "Ada Brunner", "email": "ada@example.org", "tel": "+41 44 555 01 20"}


def test_the_answer_of_the_form_is_at_an_address_that_gives_nothing(client: TestClient) -> None:
    assert "Request a call" in client.get("/callback").text
    answer = client.post("/callback/request", data=GIVEN, follow_redirects=False)
    (sent,) = client.get("/_log/forms?form=callback").json()["submissions"]
    assert answer.status_code == 200 and f"your request {sent['reference']} was received" in answer.text
    assert sent["fields"] == GIVEN
    assert client.get("/callback/request").status_code == 404


def test_what_is_wrong_is_said_and_not_accepted(client: TestClient) -> None:
    answer = client.post("/callback/request", data={**GIVEN, "email": "ada"})
    assert answer.status_code == 422 and "Please enter an e-mail address" in answer.text
    assert client.get("/_log/forms?form=callback").json()["count"] == 0
