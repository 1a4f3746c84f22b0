"""Records in one tab of a Google spreadsheet, by the Sheets API (v4) and a service account.

The tab is emptied and written anew: a line of names, then a line for each record. Values are written as they are
(`RAW`), so that no text becomes a formula. Each batch has its own lines, so that one that is written again changes
nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from pydantic_core import from_json, to_json

from shoal.agent.spec import SheetsSink
from shoal.agent.support.json_value import Json
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.services.sinks.columns import MOST, as_text, flat_row
from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.run import SinkProgress, SinkRecord, SinkRun
from shoal.services.webhooks.checked_http import CheckedHttp, NotReached

_SCOPE = "https://www.googleapis.com/auth/spreadsheets"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_CALL_S = 60.0
_TOKEN_S = 3600
_TOKEN_KEPT_S = 3000.0
_ANSWER_BYTES = 1 << 20
_MESSAGE = re.compile(rb'"message":\s*"([^"\\]{1,300})')
_LONGEST_CELL = 50_000
"""Characters that a cell can have; Google refuses the whole batch of a longer one."""
_WHOLE = 2**53
"""A spreadsheet's numbers are exact up to it."""


class SheetsTarget:
    """One tab.

    Raises:
        SinkFault: the stored key is no key of a service account.
    """

    flat = True
    replaces = True
    batch_records = 2_000
    batch_bytes = 1 << 20

    def __init__(self, sink: SheetsSink, account: str, http: CheckedHttp, run: SinkRun, google: str) -> None:
        self._sink = sink
        self._http = http
        self._run = run
        self._url = f"{google}/v4/spreadsheets/{sink.spreadsheet}"
        self._token = ""
        self._token_until = 0.0
        try:
            key = from_json(account)
            self._email, self.token_url, pem = str(key["client_email"]), str(key["token_uri"]), key["private_key"]
            self._key = RSAKey.import_key(pem)
        except (ValueError, KeyError, TypeError, JoseError) as error:
            raise SinkFault(
                f"{sink.account} is no key of a service account: store the JSON file that Google gives for it"
            ) from error

    async def begin(self, progress: SinkProgress) -> None:
        if len(progress.columns) >= MOST:
            raise SinkFault(f"the records have {MOST} fields or more, which is too wide for a tab", final=True)
        await self._make_room(progress)
        if progress.batches == 0:
            await self._call("POST", f"/values/{self._range()}:clear", {})
            await self._put(1, [[column.name for column in progress.columns]])

    async def write(self, batch: Sequence[SinkRecord], progress: SinkProgress) -> None:
        names = [column.name for column in progress.columns]
        rows = [flat_row(record.value) for record in batch]
        await self._put(progress.written + 2, [[_cell(row.get(name)) for name in names] for row in rows])

    async def finish(self, progress: SinkProgress) -> None:
        """Lines are there as soon as their batch is."""

    async def close(self) -> None:
        """Nothing to end."""

    async def _make_room(self, progress: SinkProgress) -> None:
        """The tab, with lines and columns enough: values are refused beyond its edge."""
        spreadsheet = await self._call("GET", "?fields=sheets.properties", None)
        properties = (sheet.get("properties", {}) for sheet in spreadsheet.get("sheets", ()))
        tab = next((tab for tab in properties if tab.get("title") == self._sink.tab), None)
        rows, columns = progress.records + 1, max(1, len(progress.columns))
        if tab is None:
            grid = {"rowCount": rows, "columnCount": columns}
            change: Json = {"addSheet": {"properties": {"title": self._sink.tab, "gridProperties": grid}}}
        else:
            now = tab.get("gridProperties", {})
            grid = {
                "rowCount": max(rows, now.get("rowCount", 0)),
                "columnCount": max(columns, now.get("columnCount", 0)),
            }
            if grid == {name: now.get(name) for name in grid}:
                return
            change = {
                "updateSheetProperties": {
                    "properties": {"sheetId": tab["sheetId"], "gridProperties": grid},
                    "fields": "gridProperties(rowCount,columnCount)",
                }
            }
        await self._call("POST", ":batchUpdate", {"requests": [change]})

    async def _put(self, first: int, rows: Sequence[Sequence[Json]]) -> None:
        """Writes lines from the line `first` on."""
        if not rows[0]:
            return
        place = f"'{self._sink.tab}'!A{first}:{_letters(len(rows[0]))}{first + len(rows) - 1}"
        body = {"range": place, "majorDimension": "ROWS", "values": rows}
        await self._call("PUT", f"/values/{quote(place, safe='')}?valueInputOption=RAW", body)

    def _range(self) -> str:
        return quote(f"'{self._sink.tab}'", safe="")

    # --- calls ----------------------------------------------------------------------------------------

    async def _call(self, method: str, path: str, body: Json) -> Mapping[str, Json]:
        headers = {"Authorization": f"Bearer {await self._access()}", "Content-Type": "application/json"}
        content = b"" if body is None else to_json(body)
        return await self._answer(method, self._url + path, content, headers)

    async def _access(self) -> str:
        """An access token, asked for with a signature by the service account's key (RFC 7523)."""
        if time.monotonic() >= self._token_until:
            at = int(time.time())
            claims = {
                "iss": self._email,
                "scope": _SCOPE,
                "aud": self.token_url,
                "iat": at,
                "exp": at + _TOKEN_S,
            }
            assertion = jwt.encode({"alg": "RS256", "typ": "JWT"}, claims, self._key)
            form = urlencode({"grant_type": _GRANT, "assertion": assertion}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            grant = await self._answer("POST", self.token_url, form, headers)
            self._token = str(grant.get("access_token", ""))
            if not self._token:
                raise SinkFault(f"{self.token_url} gave no access token")
            self._token_until = time.monotonic() + _TOKEN_KEPT_S
        return self._token

    async def _answer(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Mapping[str, Json]:
        try:
            answer = await self._http.call(
                method,
                url,
                tenant=self._run.tenant,
                timeout_s=_CALL_S,
                body=body,
                headers=headers,
                most=_ANSWER_BYTES,
            )
        except NotReached as error:
            raise SinkFault(str(error), final=error.refused) from error
        if not answer.is_success:
            match = _MESSAGE.search(answer.body)
            message = match[1].decode(errors="replace") if match else answer.words
            raise SinkFault(
                f"Google: HTTP {answer.status_code}: {message}",
                retry_after_s=retry_after_seconds(answer.headers) or 0.0,
            )
        try:
            said_json = from_json(answer.body)
        except ValueError:
            said_json = None
        if not isinstance(said_json, dict):
            raise SinkFault(f"{url.partition('?')[0]} answered with something else than a JSON object")
        return said_json


def _cell(value: Json) -> Json:
    """A value as a cell holds it: nothing is an empty text, which also empties what stood there."""
    if value is None:
        return ""
    if isinstance(value, int) and abs(value) > _WHOLE:
        return str(value)
    if isinstance(value, bool | int | float):
        return value
    text = as_text(value)
    return text if len(text) <= _LONGEST_CELL else f"({len(text):,} characters: more than a cell can have)"


def _letters(number: int) -> str:
    """The name of a column, counted from 1: A, …, Z, AA, …"""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
