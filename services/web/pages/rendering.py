"""Rendering of pages, errors included, and who may see them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.services.errors import ServiceError
from shoal.services.events import JobEvent
from shoal.services.store import ids
from shoal.services.web.deps import Prices
from shoal.services.web.http import problems
from shoal.services.web.http.api_keys import Caller, Scope
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.pages.filters import FILTERS
from shoal.services.web.pages.item_rows import details, item_name, named_values
from shoal.services.web.pages.login import LoginCheck, LoginNeeded

HERE = Path(__file__).parent
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""Pages carry what sites gave. Should some of it get past the escaping, it still can load and run nothing."""


class Pages:
    """Renders templates, errors included.

    Args:
        login_provider: where people can log in beside keys; "": nowhere.
        prices: what costs are told by.
    """

    def __init__(self, login_check: LoginCheck, login_provider: str = "", prices: Prices = Prices()) -> None:
        self._login_check = login_check
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._environment.filters.update(FILTERS)
        self._environment.filters.update(details=details, item_name=item_name, named_values=named_values)
        self._environment.globals.update(
            job_id=ids.job_id,
            session_id=ids.session_id,
            delivery_id=ids.delivery_id,
            login_provider=login_provider,
            money=lambda usage: prices.money(usage.prompt_tokens, usage.completion_tokens),
            Status=Status,
            FINAL=FINAL,
            JobEvent=JobEvent,
        )

    def page(self, request: Request, template: str, *, status: int = 200, **context: Json) -> Response:
        """One page."""
        text = self.part(request, template, **context)
        return HTMLResponse(text, status_code=status, headers=PAGE_HEADERS)

    def part(self, request: Request, template: str, **context: Json) -> str:
        """The HTML of a template, which may be a part of a page."""
        return self._environment.get_template(template).render(
            path=request.url.path,
            query=dict(request.query_params),
            needs_login=self._login_check.required,
            token=self._login_check.form_token(request),
            **{"caller": None, **context},
        )

    def refusal(self, request: Request, error: ServiceError) -> Response:
        """The page that says why something was refused."""
        status = problems.of_error(error).status_code
        faults = problems.faults_of(error)
        return self.page(request, "error.html", status=status, code=status, message=error.message, faults=faults)

    def unknown(self, request: Request, status: int) -> Response:
        """The page of an address that nothing has (404), or that takes no such request (405)."""
        path = request.url.path
        message = f"There is no page at {path}." if status == 404 else f"{path} does not take {request.method}."
        return self.page(request, "error.html", status=status, code=status, message=message, faults=[])

    def route_class(self) -> type[LazyRoute]:
        """Routes whose errors are pages, and which send strangers to the login."""
        pages = self

        class PageRoute(LazyRoute):
            def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
                handle = super().get_route_handler()

                async def handled(request: Request) -> Response:
                    try:
                        return await handle(request)
                    except LoginNeeded:
                        address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                        back = address if request.method == "GET" else "/"
                        return RedirectResponse(f"/login?next={quote(back, safe='/')}", status_code=303)
                    except ServiceError as error:
                        return pages.refusal(request, error)
                    except RequestValidationError as error:
                        return pages.refusal(request, problems.of_parameters(error))

                return handled

        return PageRoute


def let_in(login_check: LoginCheck, scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    async def caller(request: Request) -> Caller:
        return await login_check.caller(request, scope)

    return caller
