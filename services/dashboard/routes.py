"""Routes of the dashboard: pages for people, made on the server, kept current by a little script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Form, Header, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from agent.status import Status
from services.dashboard.login import Door, LoginNeeded, local_path
from services.dashboard.looks import failures, first_results, look
from services.dashboard.words import FILTERS
from services.errors import NotFound, ServiceError, Unauthenticated
from services.gateway import problems
from services.gateway.auth import Authenticator
from services.gateway.deps import GatewayDeps
from services.gateway.feed import event_stream, resume_point
from services.gateway.jobs import CONTROLS, Verb, control_job, job_cursor, labels_of
from services.gateway.keys import Caller, Scope
from services.gateway.overview import overview
from services.gateway.results import Format, result_rows, written
from services.gateway.sessions import artifact_id, safe_headers
from services.gateway.views import SessionDetailView, spec_view
from services.store import ids
from services.store.records import JobFilter

Json = Any

HERE = Path(__file__).parent
JOBS_SHOWN = 50
SESSIONS_SHOWN = 25
STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""Pages carry what sites gave. Should some of it get past the escaping, it still can load and run nothing."""


def dashboard_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """All pages."""
    door = Door(authenticator, deps.options.cookie_secret, secure=deps.options.secure_cookies)
    pages = Pages(door)
    router = APIRouter(include_in_schema=False, route_class=pages.route_class())
    _add_login(router, door, pages)
    _add_jobs(router, deps, door, pages)
    _add_sessions(router, deps, door, pages)

    @router.get("/status")
    async def status(request: Request, caller: Caller = Depends(_let_in(door, "read"))) -> Response:
        seen = await overview(deps.store, caller)
        return pages.page(request, "status.html", caller=caller, seen=seen, statuses=list(Status))

    @router.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in STATIC:
            raise NotFound(f"there is no file {name!r}")
        headers = {"Cache-Control": "public, max-age=3600"}
        return Response(STATIC[name], media_type=STATIC_TYPES[Path(name).suffix], headers=headers)

    return router


STATIC: Mapping[str, bytes] = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir())}
"""Few and small: kept in memory, so that a name in a URL never becomes a path."""


class Pages:
    """Renders templates, errors included."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._environment.filters.update(FILTERS)
        self._environment.globals.update(job_id=ids.job_id, session_id=ids.session_id, Status=Status)

    def page(self, request: Request, template: str, *, status: int = 200, **context: Json) -> Response:
        """One page."""
        text = self._environment.get_template(template).render(
            path=request.url.path,
            query=dict(request.query_params),
            needs_login=self._door.required,
            token=self._door.form_token(request),
            **{"caller": None, **context},
        )
        return HTMLResponse(text, status_code=status, headers=PAGE_HEADERS)

    def route_class(self) -> type[APIRoute]:
        """Routes whose errors are pages, and which send strangers to the login."""
        pages = self

        class PageRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
                handle = super().get_route_handler()

                async def handled(request: Request) -> Response:
                    try:
                        return await handle(request)
                    except LoginNeeded:
                        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                        back = wanted if request.method == "GET" else "/"
                        return RedirectResponse(f"/login?next={quote(back, safe='/')}", status_code=303)
                    except ServiceError as error:
                        status = problems.of_error(error).status_code
                        return pages.page(request, "error.html", status=status, code=status, error=error)

                return handled

        return PageRoute


def _let_in(door: Door, scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    async def caller(request: Request) -> Caller:
        return await door.caller(request, scope)

    return caller


def _add_login(router: APIRouter, door: Door, pages: Pages) -> None:
    @router.get("/login")
    async def form(request: Request, next: str = "/") -> Response:
        return pages.page(request, "login.html", next=local_path(next), fault="")

    @router.post("/login")
    async def log_in(request: Request, key: str = Form(max_length=200), next: str = Form("/")) -> Response:
        answer = RedirectResponse(local_path(next), status_code=303)
        try:
            await door.log_in(request, key.strip(), answer)
        except Unauthenticated as error:
            return pages.page(request, "login.html", status=401, next=local_path(next), fault=error.message)
        return answer

    @router.post("/logout")
    async def log_out(request: Request, token: str = Form("")) -> Response:
        door.check_form(request, token)
        answer = RedirectResponse("/login", status_code=303)
        door.log_out(answer)
        return answer


def _add_jobs(router: APIRouter, deps: GatewayDeps, door: Door, pages: Pages) -> None:
    store = deps.store

    @router.get("/")
    async def listing(
        request: Request,
        caller: Caller = Depends(_let_in(door, "read")),
        status: str = "",
        label: str = "",
        cursor: str | None = None,
    ) -> Response:
        chosen = tuple(one for one in Status if one == status)
        wanted = JobFilter(
            tenant=caller.sees,
            statuses=chosen,
            labels=labels_of([label]) if label else {},
            before=job_cursor(cursor),
            limit=JOBS_SHOWN + 1,
        )
        rows = await store.jobs(wanted)
        seen = await overview(store, caller)
        following = (
            {"status": status, "label": label, "cursor": ids.job_id(rows[JOBS_SHOWN - 1].id)}
            if (len(rows) > JOBS_SHOWN)
            else None
        )
        return pages.page(
            request,
            "jobs.html",
            caller=caller,
            jobs=[look(row) for row in rows[:JOBS_SHOWN]],
            seen=seen,
            chosen=status,
            label=label,
            statuses=list(Status),
            following=following and "/?" + urlencode({name: text for name, text in following.items() if text}),
        )

    @router.get("/jobs/{job}")
    async def job_page(
        request: Request,
        job: str,
        caller: Caller = Depends(_let_in(door, "read")),
        sessions: str = "",
        cursor: str | None = None,
    ) -> Response:
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        chosen = [one for one in Status if one == sessions]
        found, after = await store.sessions(row.id, statuses=chosen, after=cursor, limit=SESSIONS_SHOWN)
        groups, more_failures = await failures(store, row)
        return pages.page(
            request,
            "job.html",
            caller=caller,
            job=look(row),
            spec=spec_view(row.spec),
            controls=CONTROLS,
            failures=groups,
            more_failures=more_failures,
            results=await first_results(store, row),
            sessions=found,
            chosen=sessions,
            statuses=list(Status),
            following=after and "?" + urlencode({"sessions": sessions, "cursor": after}) + "#sessions",
            can_control=caller.may("control"),
        )

    @router.post("/jobs/{job}/{verb}")
    async def control(
        request: Request,
        job: str,
        verb: str,
        token: str = Form(""),
        caller: Caller = Depends(_let_in(door, "control")),
    ) -> Response:
        door.check_form(request, token)
        if verb not in get_args(Verb):
            raise NotFound(f"there is nothing called {verb!r} to do to a job")
        row = await control_job(deps, next(known for known in CONTROLS if known == verb), ids.parse_job(job), caller)
        return RedirectResponse(f"/jobs/{ids.job_id(row.id)}", status_code=303)

    @router.get("/jobs/{job}/events")
    async def events(
        job: str,
        caller: Caller = Depends(_let_in(door, "read")),
        last_event_id: str | None = Header(None),
        after: int = Query(0, ge=0, le=2**63 - 1),
    ) -> Response:
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        start = resume_point(last_event_id, after)
        return await event_stream(store, deps.metrics, row.id, start, follow=True)

    @router.get("/jobs/{job}/results")
    async def results(
        job: str, format: Format = Format.JSONL, caller: Caller = Depends(_let_in(door, "read"))
    ) -> Response:
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        headers = {"Content-Disposition": f'attachment; filename="{ids.job_id(row.id)}.{format}"'}
        return await written(row, result_rows(store, row.id), format, headers)


def _add_sessions(router: APIRouter, deps: GatewayDeps, door: Door, pages: Pages) -> None:
    @router.get("/sessions/{session}")
    async def session_page(request: Request, session: str, caller: Caller = Depends(_let_in(door, "read"))) -> Response:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        job = await deps.store.job(detail.row.job, tenant=caller.sees)
        whole = SessionDetailView.of_detail(detail).model_dump(mode="json", by_alias=True)
        known = {artifact.id for artifact in detail.artifacts}
        return pages.page(
            request,
            "session.html",
            caller=caller,
            detail=detail,
            session=detail.row,
            job=look(job),
            whole=whole,
            known=known,
        )

    @router.get("/artifacts/{artifact}")
    async def artifact(artifact: str, caller: Caller = Depends(_let_in(door, "read"))) -> Response:
        """The bytes themselves, also from an object store: the pages' policy lets images come from here only."""
        row = await deps.store.artifact(artifact_id(artifact), tenant=caller.sees)
        return Response(await deps.artifacts.get(row.key), headers=safe_headers(row))
