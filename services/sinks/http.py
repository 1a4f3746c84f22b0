"""Records in batches by POST, signed as webhooks are. A batch that is sent again has the same id."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pydantic_core import to_json

from shoal.agent.spec import HttpSink
from shoal.agent.support.json_value import Json
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.run import SinkProgress, SinkRecord, SinkRun
from shoal.services.webhooks.checked_http import CheckedHttp, NotReached
from shoal.services.webhooks.signature import signed_headers, tenant_secret

_CALL_S = 60.0
_GONE = 410


class HttpTarget:
    """One address. It gets `sink.records` for each batch, and `sink.finished` behind the last."""

    flat = False
    replaces = False
    batch_bytes = 4 << 20

    def __init__(self, sink: HttpSink, secrets: Sequence[str], http: CheckedHttp, run: SinkRun) -> None:
        self._sink = sink
        self._secrets = [tenant_secret(master, run.tenant) for master in secrets]
        self._http = http
        self._run = run
        self.batch_records = sink.batch

    async def begin(self, progress: SinkProgress) -> None:
        """Nothing to make."""

    async def write(self, batch: Sequence[SinkRecord], progress: SinkProgress) -> None:
        records = [{"url": record.url, "at": record.at, "record": record.value} for record in batch]
        payload = {"type": "sink.records", "batch": progress.batches, "first": progress.written, "records": records}
        await self._post(f"{progress.mark}-{progress.batches}", payload)

    async def finish(self, progress: SinkProgress) -> None:
        payload = {
            "type": "sink.finished",
            "batches": progress.batches,
            "records": progress.written,
            "status": self._run.status,
            "counts": dict(self._run.counts),
        }
        await self._post(f"{progress.mark}-end", payload)

    async def close(self) -> None:
        """Nothing to end."""

    async def _post(self, message: str, payload: dict[str, Json]) -> None:
        body = to_json({**payload, "job": self._run.job, "sink": self._run.nth}, inf_nan_mode="null")
        headers = signed_headers(self._secrets, message, int(time.time()), body)
        try:
            answer = await self._http.call(
                "POST",
                self._sink.url,
                tenant=self._run.tenant,
                timeout_s=_CALL_S,
                body=body,
                headers={**headers, "Content-Type": "application/json"},
            )
        except NotReached as error:
            raise SinkFault(str(error), final=error.refused) from error
        if not answer.is_success:
            raise SinkFault(
                f"HTTP {answer.status_code}" + (f": {answer.words}" if answer.words else ""),
                final=answer.status_code == _GONE,
                retry_after_s=retry_after_seconds(answer.headers) or 0.0,
            )
