"""Secrets by name, from a folder with one file each per tenant (Kubernetes mounts a Secret so).

Beside the file NAME lies NAME.domains: the sites where the secret may be filled in (`shoal.services.secrets.sites`). It
is written by the one who keeps the secret. A job can narrow that by its own `secrets.NAME.domains`, and never widen it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from shoal.agent.errors import SecretRefused
from shoal.agent.spec import JobSpec
from shoal.agent.support.sites.sites import host_within
from shoal.services.secrets.folder import BINDING, NAME, TENANT, Unbound, stored_value

_NAME = re.compile(NAME)
_REFERENCE = re.compile(rf"secret:({NAME})\Z")


class FolderSecrets:
    """Resolves `secret:NAME` for one job: only names that its spec grants, only on sites that the secret is bound to.

    Value and binding are read at the moment of use. Values are kept as long as a session of the job has to hide them.
    """

    def __init__(self, folder: str | None, tenant: str, spec: JobSpec) -> None:
        self._folder = Path(folder) / tenant if folder and TENANT.match(tenant) else None
        self._spec = spec

    def resolve(self, value: object, url: str) -> object:
        if isinstance(value, list | tuple):
            return [self.resolve(part, url) for part in value]
        if not isinstance(value, str) or not (reference := _REFERENCE.match(value)):
            return value
        name = reference[1]
        use = self._spec.secrets.get(name)
        if use is None:
            raise SecretRefused(f"the job's `secrets` does not name {name!r}")
        host = urlsplit(url).hostname or ""
        if not any(host_within(host, domain) for domain in use.domains):
            raise SecretRefused(f"secret {name!r} may not be used on {host or url!r}")
        try:
            return stored_value(self._folder, name, url)
        except Unbound as error:
            raise SecretRefused(str(error)) from None

    def granted(self) -> Mapping[str, str]:
        """Wherever they may be filled in: while a keeper writes a binding anew, there is none for a moment."""
        values: dict[str, str] = {}
        if self._folder is None:
            return values
        for name in self._spec.secrets:
            if not _NAME.fullmatch(name) or name.endswith(BINDING):
                continue  # it could be another tenant's path
            try:
                values[f"secret:{name}"] = (self._folder / name).read_text(encoding="utf-8").rstrip("\r\n")
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError, UnicodeDecodeError):
                continue  # nothing that could be filled in
        return values
