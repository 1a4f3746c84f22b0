"""Stored secrets on disk: a folder with one file each per tenant, and beside the file NAME the file NAME.domains.

The second file is the binding: the sites where the secret may be filled in (`shoal.services.secrets.sites`). Kubernetes
mounts a Secret so. Workers read both at each use. A value and its binding are two files, so a change takes the
binding away first and writes it last: in between the secret is refused.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from shoal.agent.redaction.spellings import WEAK_CHARS, is_weak
from shoal.services.errors import BadInput, NotFound, WrongState
from shoal.services.private import make_folder, opener
from shoal.services.secrets.sites import SecretSite, parse_sites

BINDING = ".domains"
"""Suffix of the name of a secret's binding."""

NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
"""Pattern of the names of secrets. Names that begin with a dot are Kubernetes' own and files that are being written."""
_NAME = re.compile(NAME)
TENANT = re.compile(r"[^./\\\0][^/\\\0]*\Z")

WEAK = (
    f"the value has fewer than {WEAK_CHARS} characters: where a page shows it, it is hidden only as a word of its own, "
    "and it is easily guessed"
)
LONGEST_NAME = 128
LONGEST_VALUE = 64 * 1024
"""Bytes of UTF-8."""
MOST_SITES = 100
_MOST_READS = 5
"""Of a secret that is replaced while it is read."""


class FolderState(StrEnum):
    """States of the folder of secrets."""

    WRITABLE = "writable"
    READ_ONLY = "read_only"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """One secret, without its value."""

    tenant: str
    name: str
    sites: tuple[str, ...]  # where it may be filled in
    fault: str  # why it is refused everywhere; "" where it is not
    weak: str  # why it is not always hidden where a page shows it; "" where it is
    changed_at: float  # seconds since the epoch


class Unbound(ValueError):
    """A secret has no binding, or a wrong one; the message says which."""


def binding_of(path: Path) -> tuple[SecretSite, ...]:
    """The sites of the secret in the file `path`.

    Raises:
        Unbound: it has none, or its binding is wrong.
    """
    name = path.name
    try:
        text = path.with_name(name + BINDING).read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    try:
        sites = parse_sites(text)
    except ValueError as error:
        raise Unbound(f"the binding of secret {name!r} is wrong ({name}{BINDING}, {error})") from None
    if not sites:
        raise Unbound(
            f"secret {name!r} is bound to no site: its keeper must write the host names where it may be used, "
            f"one a line, into the file {name}{BINDING} beside it"
        )
    return sites


def stored_address(folder: Path, name: str) -> str:
    """The address that a tenant's secret holds, such as a chat's incoming webhook.

    Args:
        folder: the tenant's own.

    Raises:
        Unbound: there is no such secret, or it is not bound to the site of that address.
    """
    path = _stored_file(folder, name)
    url = path.read_text(encoding="utf-8").strip()
    if not any(site.covers(url) for site in binding_of(path)):
        raise Unbound(f"secret {name!r} is not bound to the site of the address that it holds")
    return url


def stored_value(folder: Path | None, name: str, url: str) -> str:
    """The value of a tenant's secret, to be used at the address `url`.

    Args:
        folder: the tenant's own; None: there is none.

    Raises:
        Unbound: there is no such secret, or its binding does not allow that address.
    """
    if folder is None:
        raise Unbound("no folder of secrets is configured (SHOAL_SECRETS_DIR)")
    path = _stored_file(folder, name)
    for _ in range(_MOST_READS):
        # Its keeper may replace value and binding meanwhile. A value comes after the old binding is taken away, and
        # before the new one: under the same binding file before and after, the value is the one that it binds.
        before = _file_of(path)
        _require_bound(path, url)
        value = path.read_text(encoding="utf-8").rstrip("\r\n")
        if before is not None and before == _file_of(path):
            return value
    raise Unbound(f"secret {name!r} is being replaced at this moment")


def _stored_file(folder: Path, name: str) -> Path:
    path = folder / name
    if not _NAME.fullmatch(name) or name.endswith(BINDING) or not path.is_file():
        raise Unbound(f"no secret named {name!r} is stored")
    return path


def _file_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a secret's binding file from the one that takes its place; None: there is none."""
    try:
        status = path.with_name(path.name + BINDING).stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _require_bound(path: Path, url: str) -> None:
    sites = binding_of(path)
    if not any(site.covers(url) for site in sites):
        parts = urlsplit(url)
        raise Unbound(
            f"secret {path.name!r} is bound to {', '.join(map(str, sites))}, and the address is "
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        )


class SecretFolder:
    """The secrets of all tenants. Its calls read and write files: an event loop makes them in a thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> FolderState:
        """Return the state of the folder: can secrets be set here?"""
        if not self.folder.is_dir():
            return FolderState.MISSING
        return FolderState.WRITABLE if os.access(self.folder, os.W_OK | os.X_OK) else FolderState.READ_ONLY

    def secrets(self, tenant: str | None) -> list[StoredSecret]:
        """Those of a tenant, None: of all, by tenant and name.

        Raises:
            WrongState: the folder cannot be read.
        """
        if tenant is not None and not TENANT.match(tenant):
            return []
        try:
            return [_stored(path) for path in sorted(self.folder.glob("[!.]*/[!.]*")) if _is_secret(path, tenant)]
        except OSError as error:
            raise WrongState(f"The folder of secrets cannot be read: {error.strerror}.") from error

    def put(self, tenant: str, name: str, value: str, sites: Sequence[str]) -> tuple[StoredSecret, bool]:
        """Stores a secret, in the place of the one that is there; the secret, and whether one was there.

        Line breaks at the end of the value are dropped, as they are where it is read.

        Raises:
            BadInput: the name, the value or a site cannot be stored.
            WrongState: the folder cannot be written.
        """
        content, binding = _checked(tenant, name, value, sites)
        with self._writing(tenant) as folder:
            path = folder / name
            was_there = path.exists()
            path.with_name(name + BINDING).unlink(missing_ok=True)
            _write(path, content)
            _write(path.with_name(name + BINDING), binding)
            return _stored(path), was_there

    def remove(self, tenant: str, name: str) -> None:
        """Removes a secret and its binding.

        Raises:
            NotFound: there is none.
            WrongState: the folder cannot be written.
        """
        if not any(secret.name == name for secret in self.secrets(tenant)):
            raise NotFound(f"there is no secret {name!r}")
        with self._writing(tenant) as folder:
            (folder / name).with_name(name + BINDING).unlink(missing_ok=True)
            (folder / name).unlink(missing_ok=True)

    @contextmanager
    def _writing(self, tenant: str) -> Iterator[Path]:
        """The tenant's folder, which no other process writes to meanwhile."""
        if (state := self.state()) is not FolderState.WRITABLE:
            raise WrongState(f"Secrets cannot be changed here: {unwritable(state, self.folder)}")
        folder = self.folder / tenant
        try:
            make_folder(folder)
            lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield folder
                os.fsync(lock)
            finally:
                os.close(lock)
        except OSError as error:
            raise WrongState(f"The secret could not be written: {error.strerror or error}.") from error


def unwritable(state: FolderState, folder: Path) -> str:
    """Why secrets cannot be changed, and where they are; "" where they can be."""
    if state is FolderState.MISSING:
        return f"this gateway has no folder {folder}. Workers have their own, and their operator changes it there."
    if state is FolderState.READ_ONLY:
        return f"{folder} is read-only. Change it where it comes from: in Kubernetes, that is the tenant's Secret."
    return ""


def _is_secret(path: Path, tenant: str | None) -> bool:
    mine = tenant is None or path.parent.name == tenant
    return mine and path.suffix != BINDING and _NAME.fullmatch(path.name) is not None and path.is_file()


def _stored(path: Path) -> StoredSecret:
    try:
        sites, fault = tuple(map(str, binding_of(path))), ""
    except (Unbound, UnicodeDecodeError) as error:
        sites, fault = (), str(error)
    value = path.read_bytes().decode("utf-8", "replace").rstrip("\r\n")
    return StoredSecret(path.parent.name, path.name, sites, fault, WEAK if is_weak(value) else "", path.stat().st_mtime)


def _checked(tenant: str, name: str, value: str, sites: Sequence[str]) -> tuple[bytes, bytes]:
    """Return what the two files hold. No message has the value."""
    if not TENANT.match(tenant):
        raise _bad("tenant", "is no name of a tenant")
    if not _NAME.fullmatch(name) or name.endswith(BINDING) or len(name) > LONGEST_NAME:
        raise _bad(
            "name",
            f"must have 1 to {LONGEST_NAME} of A-Z a-z 0-9 . _ -, must not begin with a dot or end with {BINDING}",
        )
    try:
        content = value.rstrip("\r\n").encode()
    except UnicodeEncodeError:
        raise _bad("value", "is no text that can be stored") from None
    if not content or len(content) > LONGEST_VALUE or b"\0" in content:
        raise _bad("value", f"must have 1 to {LONGEST_VALUE} bytes, and no character NUL")
    lines = [line for site in sites for line in site.splitlines()]
    try:
        parsed = parse_sites("\n".join(lines))
    except ValueError as error:
        raise _bad("domains", str(error)) from None
    if not 0 < len(parsed) <= MOST_SITES:
        raise _bad("domains", f"must name 1 to {MOST_SITES} sites")
    return content, "".join(f"{site}\n" for site in parsed).encode()


def _bad(field: str, reason: str) -> BadInput:
    return BadInput(f"{field}: {reason}.", errors=[{"field": field, "reason": reason}])


def _write(path: Path, content: bytes) -> None:
    """Puts a file in its place as a whole; it is this user's alone."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(part, "xb", opener=opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
