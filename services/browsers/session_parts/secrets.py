"""Secrets by name, from a folder with one file each per tenant (Kubernetes mounts a Secret so).

Beside the file NAME lies NAME.domains: the sites where the secret may be filled in (`shoal.services.secret_sites`). It
is written by the one who keeps the secret. A job can narrow that by its own `secrets.NAME.domains`, and never widen it.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from shoal.agent.errors import SecretRefused
from shoal.agent.spec import JobSpec
from shoal.services.secret_sites import SecretSite, host_within, parse_sites

BINDING = ".domains"
"""What the name of a secret's binding ends with."""

_REFERENCE = re.compile(r"secret:([A-Za-z0-9_-][A-Za-z0-9._-]*)\Z")
_TENANT = re.compile(r"[^./\\\0][^/\\\0]*\Z")


class FolderSecrets:
    """Resolves `secret:NAME` for one job: only names that its spec grants, only on sites that the secret is bound to.

    Value and binding are read at the moment of use and kept nowhere.
    """

    def __init__(self, folder: str | None, tenant: str, spec: JobSpec) -> None:
        self._folder = Path(folder) / tenant if folder and _TENANT.match(tenant) else None
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
        if self._folder is None:
            raise SecretRefused("no folder of secrets is configured (SHOAL_SECRETS_DIR)")
        path = self._folder / name
        if name.endswith(BINDING) or not path.is_file():
            raise SecretRefused(f"no secret named {name!r} is stored")
        sites = bound_to(path)
        if not any(site.covers(url) for site in sites):
            raise SecretRefused(f"secret {name!r} is bound to {', '.join(map(str, sites))}, and the page is {_of(url)}")
        return path.read_text(encoding="utf-8").rstrip("\r\n")


def bound_to(path: Path) -> tuple[SecretSite, ...]:
    """The sites of the secret in the file `path`.

    Raises:
        SecretRefused: it has none, or its binding is wrong.
    """
    name = path.name
    try:
        text = path.with_name(name + BINDING).read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    try:
        sites = parse_sites(text)
    except ValueError as error:
        raise SecretRefused(f"the binding of secret {name!r} is wrong ({name}{BINDING}, {error})") from None
    if not sites:
        raise SecretRefused(
            f"secret {name!r} is bound to no site: its keeper must write the host names where it may be used, "
            f"one a line, into the file {name}{BINDING} beside it"
        )
    return sites


def _of(url: str) -> str:
    """The origin of a page, as the message of a refusal names it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
