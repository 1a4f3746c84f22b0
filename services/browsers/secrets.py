"""Secrets by name, from a folder with one file each per tenant (Kubernetes mounts a Secret so)."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from agent.errors import SecretRefused
from agent.spec import JobSpec

_REFERENCE = re.compile(r"secret:([A-Za-z0-9_-][A-Za-z0-9._-]*)\Z")


class FolderSecrets:
    """Resolves `secret:NAME` for one job: only names that its spec grants, only on the domains granted there.

    The value is read at the moment of use and kept nowhere.
    """

    def __init__(self, folder: str | None, tenant: str, spec: JobSpec) -> None:
        self._folder = Path(folder) / tenant if folder else None
        self._spec = spec

    def resolve(self, value: object, url: str) -> object:
        if isinstance(value, list | tuple):
            return [self.resolve(part, url) for part in value]
        if not isinstance(value, str) or not (found := _REFERENCE.match(value)):
            return value
        name = found[1]
        use = self._spec.secrets.get(name)
        if use is None:
            raise SecretRefused(f"the job's `secrets` does not name {name!r}")
        host = urlsplit(url).hostname or ""
        if not any(host == domain or host.endswith("." + domain) for domain in use.domains):
            raise SecretRefused(f"secret {name!r} may not be used on {host or url!r}")
        if self._folder is None:
            raise SecretRefused("no folder of secrets is configured (SHOAL_SECRETS_DIR)")
        path = self._folder / name
        if not path.is_file():
            raise SecretRefused(f"no secret named {name!r} is stored")
        return path.read_text(encoding="utf-8").rstrip("\r\n")
