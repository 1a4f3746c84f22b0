"""From a sink of a job's spec to what writes to it: its secrets are looked up, and bound to where they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from shoal.services.secrets.folder import TENANT, Unbound, stored_value
from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.folder import FolderPlace
from shoal.services.sinks.http import HttpTarget
from shoal.services.sinks.run import SinkRun, SinkTarget
from shoal.services.store.jobs.sink_records import SinkRow
from shoal.services.store.records import JobRow
from shoal.services.webhooks.checked_http import CheckedHttp

GOOGLE = "https://sheets.googleapis.com"


@dataclass(frozen=True, slots=True)
class SinkTargets:
    """Opens what writes to a sink."""

    http: CheckedHttp
    secrets_dir: Path | None  # of all tenants; None: there is none
    folders: Sequence[Path] = ()  # that tenants may write to, as the setting names them
    webhook_secrets: Sequence[str] = ()  # the cluster's, newest first
    google: str = GOOGLE  # where spreadsheets are

    async def __call__(self, row: SinkRow, job: JobRow, run: SinkRun) -> SinkTarget:
        """The target of one sink.

        Raises:
            SinkFault: a secret is missing or not bound to its address, or a folder is not allowed.
        """
        sink = job.spec.sinks[row.nth]
        if sink.folder is not None:
            files = await _module("files")
            place = await asyncio.to_thread(FolderPlace, sink.folder.path, run.tenant, self.folders)
            return cast("SinkTarget", files.FilesTarget(place, sink.folder, run))
        if sink.s3 is not None:
            access_key = await self._secret(run.tenant, sink.s3.access_key, sink.s3.address)
            secret_key = await self._secret(run.tenant, sink.s3.secret_key, sink.s3.address)
            files, s3 = await _module("files"), await _module("s3")
            place = s3.S3Place(sink.s3, access_key, secret_key, self.http, run.tenant)
            return cast("SinkTarget", files.FilesTarget(place, sink.s3, run))
        if sink.postgres is not None:
            named = sink.postgres.password
            password = None if named is None else await self._secret(run.tenant, named, sink.postgres.address)
            postgres = await _module("postgres")
            return cast("SinkTarget", postgres.PostgresTarget(sink.postgres, password, self.http, run))
        if sink.sheets is not None:
            account, google = sink.sheets.account, self.google
            key = await self._secret(run.tenant, account, google)
            target = (await _module("sheets")).SheetsTarget(sink.sheets, key, self.http, run, google)
            await self._secret(run.tenant, account, target.token_url)  # it is sent a signature by that key
            return cast("SinkTarget", target)
        assert sink.http is not None
        return HttpTarget(sink.http, self.webhook_secrets, self.http, run)

    async def _secret(self, tenant: str, reference: str, url: str) -> str:
        folder = self.secrets_dir / tenant if self.secrets_dir is not None and TENANT.match(tenant) else None
        try:
            return await asyncio.to_thread(stored_value, folder, reference.removeprefix("secret:"), url)
        except (Unbound, UnicodeDecodeError) as error:
            raise SinkFault(str(error)) from error
        except OSError as error:
            raise SinkFault(f"the folder of secrets cannot be read: {error.strerror}") from error


async def _module(name: str) -> Any:
    """Import a module beside this one when a job has such a sink: their libraries take up to 0.3 s and 60 MiB."""
    return await asyncio.to_thread(import_module, f"shoal.services.sinks.{name}")
