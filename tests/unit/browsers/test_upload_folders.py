"""Files that jobs may upload lie in a folder of their own tenant."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.agent.browser import ContextOptions
from shoal.services.browsers.configs import of_tenant, worker_config
from shoal.services.settings import Settings


def folders(tenant: str, *set_to: str) -> tuple[str, ...] | None:
    context = worker_config(Settings(data_dir=Path("/data"), **({"upload_dirs": set_to} if set_to else {}))).context
    return of_tenant(context, tenant).upload_dirs


@pytest.mark.parametrize(
    ("tenant", "set_to", "found"),
    [
        ("acme", (), ("/data/uploads/acme",)),
        ("acme", ("/files",), ("/files/acme",)),
        ("acme", ("/{tenant}/in", "/two"), ("/acme/in", "/two/acme")),
        ("a.b_c-1", ("/files",), ("/files/a.b_c-1",)),
        ("..", ("/files",), ()),
        ("../acme", ("/files", "/{tenant}"), ()),
        ("", ("/files",), ()),
    ],
)
def test_a_tenant_has_its_own_folder_of_each(tenant: str, set_to: tuple[str, ...], found: tuple[str, ...]) -> None:
    assert folders(tenant, *set_to) == found


def test_what_an_owner_of_the_machine_adds_stays_as_it_is() -> None:
    """`shoal.run` and `open_page` let files of the current folder be uploaded."""
    assert of_tenant(ContextOptions(upload_dirs=("/here",)), "default").upload_dirs == ("/here",)
    assert of_tenant(ContextOptions(upload_dirs=None), "default").upload_dirs is None
