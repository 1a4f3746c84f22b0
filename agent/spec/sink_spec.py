"""Destinations of a job's records once it has ended, beside its results."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from shoal.agent.spec.part import HttpUrl, SpecPart

_REFERENCE = re.compile(r"secret:[A-Za-z0-9_-][A-Za-z0-9._-]*\Z")
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\x00-\x1f\x7f]{0,500})?\Z")
_SHEET = re.compile(r"[A-Za-z0-9_-]{5,200}\Z")


def _reference(text: str) -> str:
    if _REFERENCE.match(text) is None:
        raise ValueError("must name a stored secret, as secret:NAME")
    return text


SecretReference = Annotated[str, AfterValidator(_reference)]


class S3Sink(SpecPart):
    """Files in a bucket: `URL/date=DATE/job=JOB/part-N`, and `URL/latest.json`, which names those of the newest job."""

    url: str = Field(description="`s3://BUCKET` or `s3://BUCKET/PREFIX`")
    format: Literal["jsonl", "parquet"] = Field("jsonl", description="what the files are")
    access_key: SecretReference = Field(description="the access key, as secret:NAME")
    secret_key: SecretReference = Field(description="the secret key, as secret:NAME")
    region: str = Field("us-east-1", pattern=r"^[a-z0-9-]{1,40}$", description="where the bucket lies")
    endpoint_url: HttpUrl | None = Field(None, description="an S3 service that is not Amazon's")

    @model_validator(mode="after")
    def _is_bucket(self) -> S3Sink:
        if _BUCKET.match(self.url) is None or any(part in (".", "..") for part in self.url.split("/")):
            raise ValueError("`url` must be s3://BUCKET or s3://BUCKET/PREFIX")
        return self

    @property
    def address(self) -> str:
        """The service that is called."""
        return self.endpoint_url or f"https://s3.{self.region}.amazonaws.com"

    @property
    def bucket(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def prefix(self) -> str:
        """The path of its files, without slashes around it; may be empty."""
        return urlsplit(self.url).path.strip("/")


class PostgresSink(SpecPart):
    """A table of a PostgreSQL database. It is made where it is missing, and gets columns that it lacks."""

    host: str = Field(min_length=1, max_length=253, description="the server's name or address")
    port: int = Field(5432, ge=1, le=65_535, description="the server's port")
    database: str = Field(min_length=1, max_length=63, description="the database")
    user: str = Field(min_length=1, max_length=63, description="the role that writes")
    password: SecretReference | None = Field(None, description="the role's password, as secret:NAME")
    table: str = Field(pattern=r"^[^\x00.]{1,63}(\.[^\x00.]{1,63})?$", description="`TABLE` or `SCHEMA.TABLE`")
    key: tuple[str, ...] = Field(
        (),
        max_length=20,
        fail_fast=True,
        description="fields of which one record has one row, which a later job writes anew; none: each job adds rows",
    )
    tls: bool = Field(True, description="false: the connection is not encrypted, and the server not checked")

    @property
    def address(self) -> str:
        """The server, as the sites of secrets name it: https where the connection is encrypted."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def place(self) -> str:
        """The table, for people."""
        return f"{self.table} of {self.database} at {self.host}:{self.port}"


class FolderSink(SpecPart):
    """Files in a folder of the gateway's machine, laid out as in a bucket."""

    path: str = Field(
        min_length=1, max_length=1000, description="the folder, within those that the operator allows (SHOAL_SINK_DIRS)"
    )
    format: Literal["jsonl", "parquet"] = Field("jsonl", description="what the files are")


class SheetsSink(SpecPart):
    """One tab of a Google spreadsheet, which holds the records of the newest job below a line of names."""

    spreadsheet: str = Field(description="the spreadsheet's id: in its address, behind `/d/`")
    tab: str = Field("Sheet1", pattern=r"^[^\x00-\x1f'\[\]*?:/\\]{1,100}$", description="the tab's name")
    account: SecretReference = Field(description="the service account's key, a JSON file, as secret:NAME")

    @model_validator(mode="after")
    def _is_id(self) -> SheetsSink:
        if _SHEET.match(self.spreadsheet) is None:
            raise ValueError("`spreadsheet` must be its id: what stands in its address behind `/d/`")
        return self


class HttpSink(SpecPart):
    """An address that gets the records in batches by POST, signed as webhooks are."""

    url: HttpUrl = Field(description="gets each batch")
    batch: int = Field(500, ge=1, le=5_000, description="records of one batch")


class SinkSpec(SpecPart):
    """One place for the job's records: exactly one of `s3`, `postgres`, `folder`, `sheets` and `http`."""

    degraded: bool = Field(
        False,
        description="true: what a degraded run of a schedule gave is written as any other; else it is held back until "
        "an operator has it written, or accepts it while it is the newest run",
    )
    s3: S3Sink | None = None
    postgres: PostgresSink | None = None
    folder: FolderSink | None = None
    sheets: SheetsSink | None = None
    http: HttpSink | None = None

    @model_validator(mode="after")
    def _one_place(self) -> SinkSpec:
        given = [name for name in SINK_KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            problem = f"has {' and '.join(given)}" if given else "says no place"
            raise ValueError(f"{problem}: give exactly one of {', '.join(f'`{name}`' for name in SINK_KINDS)}")
        return self

    @property
    def kind(self) -> str:
        """Which of the five it is."""
        return next(name for name in SINK_KINDS if getattr(self, name) is not None)

    @property
    def place(self) -> str:
        """Return where it writes to, for people; two sinks that could overwrite each other's records say the same."""
        if self.s3 is not None:
            return self.s3.url + (f" at {self.s3.endpoint_url}" if self.s3.endpoint_url else "")
        if self.postgres is not None:
            return self.postgres.place
        if self.folder is not None:
            return self.folder.path
        if self.sheets is not None:
            return f"{self.sheets.tab} of {self.sheets.spreadsheet}"
        assert self.http is not None
        return self.http.url

    @property
    def address(self) -> str | None:
        """Return what is called, as an http(s) address; None for a folder and for Google, whose address is fixed."""
        called = self.s3 or self.postgres
        return called.address if called is not None else self.http.url if self.http is not None else None


SINK_KINDS = ("s3", "postgres", "folder", "sheets", "http")
