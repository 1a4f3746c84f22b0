"""The browser of a job: its window, locale, headers and proxy."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.agent.spec.part import SpecPart


class Viewport(SpecPart):
    """Size of the page in CSS pixels."""

    width: int = Field(1280, ge=200, le=7680, description="CSS pixels")
    height: int = Field(800, ge=200, le=4320, description="CSS pixels")


class ProxySpec(SpecPart):
    """A proxy for this job's browsers."""

    server: str = Field(description="http://host:port, https:// or socks5://")
    bypass: str | None = Field(None, description="hosts that are reached without the proxy, separated by commas")
    username: str | None = Field(None, description="for a proxy that asks for one")
    password: str | None = Field(None, description="use secret:NAME rather than the password itself")


class BrowserSpec(SpecPart):
    """The browser of this job: its window, locale, headers and proxy."""

    viewport: Viewport = Viewport()
    locale: str | None = Field(None, description="BCP 47, such as de-DE")
    timezone: str | None = Field(None, description="IANA name, such as Europe/Berlin")
    color_scheme: Literal["light", "dark"] = Field("light", description="what pages are told the visitor prefers")
    user_agent: str | None = Field(None, description="sent instead of the installation's own")
    headers: dict[str, str] = Field(default_factory=dict, description="sent with every request")
    proxy: ProxySpec | None = None
    storage_state: str | None = Field(None, description="artifact id or profile name of a saved login")
    block: tuple[Literal["image", "font", "media", "stylesheet", "script"], ...] = Field(
        (), description="resource types that are not fetched", fail_fast=True
    )
    dialogs: Literal["accept", "dismiss"] = Field(
        "accept", description="how a page's confirms and prompts are answered; alerts are always accepted"
    )
    isolation: Literal["reset", "fresh"] = Field(
        "reset", description="items of a loop get a context that an earlier item used, emptied, or always a new one"
    )
    headless: bool = Field(True, description="false: a visible browser; not available in this version")
    attach: str | None = Field(None, description="DevTools address of a browser that runs already")
