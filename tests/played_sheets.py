"""A played Sheets API (v4): the methods that sinks call, with the paths and fields of its public discovery document.

It keeps the values of each tab, asks for a token that a signature of the service account got, and refuses what the
service refuses: unknown fields, values beyond the edge of the grid, and other shapes than the range's.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

from joserfc import jwt
from joserfc.jwk import RSAKey

from shoal.services.cluster.serving import listening, served

_RANGE = re.compile(r"'(?P<tab>[^']+)'(!A(?P<first>\d+):(?P<column>[A-Z]+)(?P<last>\d+))?")
_SHEET = re.compile(r"/v4/spreadsheets/(?P<id>[\w-]+)(?P<rest>.*)")
KEY = RSAKey.generate_key(2048, private=True)


@dataclass
class Tab:
    """One tab of the spreadsheet."""

    number: int
    rows: int = 1000
    columns: int = 26
    cells: dict[tuple[int, int], Any] = field(default_factory=dict)  # by line and column, from 1

    def values(self) -> list[list[Any]]:
        """Return what is shown, without empty ends."""
        height = max((line for (line, _), value in self.cells.items() if value != ""), default=0)
        width = max((column for (_, column), value in self.cells.items() if value != ""), default=0)
        return [[self.cells.get((line, column), "") for column in range(1, width + 1)] for line in range(1, height + 1)]


@dataclass
class PlayedSheets:
    """The service: one spreadsheet with tabs."""

    url: str = ""
    tabs: dict[str, Tab] = field(default_factory=lambda: {"Sheet1": Tab(0)})
    calls: list[str] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)  # statuses of the next values that are written
    token: str = "played-token"

    def account(self) -> str:
        """The JSON file of the service account's key."""
        return json.dumps(
            {
                "type": "service_account",
                "client_email": "shoal@project.iam.example",
                "token_uri": f"{self.url}/token",
                "private_key": KEY.as_pem(private=True).decode(),
            }
        )

    async def app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        path = scope["raw_path"].decode()
        status, answer = self.answered(scope["method"], path, parse_qs(scope["query_string"].decode()), headers, body)
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    def answered(
        self, method: str, path: str, query: dict[str, list[str]], headers: dict[str, str], body: bytes
    ) -> tuple[int, Any]:
        if path == "/token":
            return self._granted(parse_qs(body.decode()))
        match = _SHEET.fullmatch(path)
        if match is None or match["id"] != "the-spreadsheet":
            return _refused(404, "Requested entity was not found.")
        if headers.get("authorization") != f"Bearer {self.token}":
            return _refused(401, "Request had invalid authentication credentials.")
        rest = unquote(match["rest"])
        self.calls.append(f"{method} {rest}")
        if (method, rest) == ("GET", ""):
            assert query == {"fields": ["sheets.properties"]}
            return 200, {"sheets": [{"properties": self._properties(name)} for name in self.tabs]}
        if (method, rest) == ("POST", ":batchUpdate"):
            return self._changed(json.loads(body))
        if method == "POST" and rest.startswith("/values/") and rest.endswith(":clear"):
            return self._cleared(rest.removeprefix("/values/").removesuffix(":clear"))
        if method == "PUT" and rest.startswith("/values/"):
            assert query == {"valueInputOption": ["RAW"]}
            return self._written(rest.removeprefix("/values/"), json.loads(body))
        return _refused(404, "no such method")

    def _granted(self, form: dict[str, list[str]]) -> tuple[int, Any]:
        assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        claims = jwt.decode(form["assertion"][0], KEY, algorithms=["RS256"]).claims
        assert claims["iss"] == "shoal@project.iam.example" and claims["aud"] == f"{self.url}/token"
        assert claims["scope"] == "https://www.googleapis.com/auth/spreadsheets"
        assert claims["iat"] <= time.time() + 5 < claims["exp"] <= claims["iat"] + 3600
        return 200, {"access_token": self.token, "expires_in": 3599, "token_type": "Bearer"}

    def _properties(self, name: str) -> dict[str, Any]:
        tab = self.tabs[name]
        return {
            "sheetId": tab.number,
            "title": name,
            "gridProperties": {"rowCount": tab.rows, "columnCount": tab.columns},
        }

    def _changed(self, body: dict[str, Any]) -> tuple[int, Any]:
        for request in body["requests"]:
            ((kind, what),) = request.items()
            grid = what["properties"]["gridProperties"]
            assert set(grid) == {"rowCount", "columnCount"}
            if kind == "addSheet":
                self.tabs[what["properties"]["title"]] = Tab(len(self.tabs), grid["rowCount"], grid["columnCount"])
            else:
                assert kind == "updateSheetProperties" and what["fields"] == "gridProperties(rowCount,columnCount)"
                (tab,) = (tab for tab in self.tabs.values() if tab.number == what["properties"]["sheetId"])
                tab.rows, tab.columns = grid["rowCount"], grid["columnCount"]
        return 200, {"spreadsheetId": "the-spreadsheet", "replies": []}

    def _cleared(self, place: str) -> tuple[int, Any]:
        match = _RANGE.fullmatch(place)
        assert match is not None
        self.tabs[match["tab"]].cells.clear()
        return 200, {"clearedRange": place}

    def _written(self, place: str, body: dict[str, Any]) -> tuple[int, Any]:
        if self.answers and (status := self.answers.pop(0)) != 200:
            return _refused(status, "Quota exceeded for quota metric 'Write requests'")
        match = _RANGE.fullmatch(place)
        assert match is not None and match["first"] is not None
        assert set(body) == {"range", "majorDimension", "values"} and body["range"] == place
        tab, first, width = self.tabs[match["tab"]], int(match["first"]), len(body["values"][0])
        if int(match["last"]) > tab.rows or width > tab.columns:
            return _refused(400, f"Range ({place}) exceeds grid limits. Max rows: {tab.rows}")
        assert len(body["values"]) == int(match["last"]) - first + 1
        for line, row in enumerate(body["values"], first):
            assert len(row) == width
            for column, value in enumerate(row, 1):
                if value is not None:  # null leaves a cell as it is
                    tab.cells[line, column] = value
        return 200, {"updatedRange": place, "updatedRows": len(body["values"])}


def _refused(status: int, message: str) -> tuple[int, Any]:
    return status, {"error": {"code": status, "message": message, "status": "REFUSED"}}


@asynccontextmanager
async def played_sheets() -> AsyncIterator[PlayedSheets]:
    """The service on a port of its own."""
    service = PlayedSheets()
    with listening("127.0.0.1", 0) as listener:
        async with served(service.app, listener, "sheets") as url:
            service.url = url
            yield service
