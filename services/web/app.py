"""The gateway: one FastAPI app over a store and an artifact store. It never touches Ray."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from shoal.agent.spec import JobSpec
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.web.api.admin.secrets import SecretBody, secret_routes
from shoal.services.web.api.admin.sites import SitePatch, site_routes
from shoal.services.web.api.admin.tenants import TenantPatch, tenant_routes
from shoal.services.web.api.admin.workers import worker_routes
from shoal.services.web.api.batch import batch_routes
from shoal.services.web.api.changes import JobPatch, SettleBody, change_routes
from shoal.services.web.api.drafts import draft_routes
from shoal.services.web.api.events import feed_routes
from shoal.services.web.api.jobs import job_routes, submit_routes
from shoal.services.web.api.live import live_routes
from shoal.services.web.api.questions import AnswerBody, Asked, question_routes
from shoal.services.web.api.results import result_routes
from shoal.services.web.api.schedules.keys import ScheduleKeyBody, schedule_key_routes
from shoal.services.web.api.schedules.routes import schedule_routes
from shoal.services.web.api.sessions import session_routes
from shoal.services.web.api.status import status_routes
from shoal.services.web.api.submitter import Submitter
from shoal.services.web.api.tries import try_routes
from shoal.services.web.api.views.jobs import SubmittedView
from shoal.services.web.api.views.problems import ProblemView
from shoal.services.web.api.views.results import RecordChangeView, ResultView
from shoal.services.web.api.webhooks import NotifyBody, webhook_routes
from shoal.services.web.api.workflow_tries import VersionTryBody, workflow_try_routes
from shoal.services.web.api.workflows import workflow_routes
from shoal.services.web.cluster_state.overview import has_model
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http import problems
from shoal.services.web.http.audit import AuditTrail
from shoal.services.web.http.auth import Authenticator
from shoal.services.web.http.body import FORM_FIELD_BYTES, FORM_FIELDS
from shoal.services.web.http.lazy_route import add_routes
from shoal.services.web.http.quota import Quota
from shoal.services.web.http.requests import RequestContext
from shoal.services.web.live.event_feed import EventFeed
from shoal.services.web.live.orders import TakeoverBody
from shoal.services.web.live.rooms import LiveRooms
from shoal.services.web.pages.routes import add_dashboard
from shoal.services.web.specs.specs import SpecChecker
from shoal.services.web.tries.trier import Trier
from shoal.services.web.tries.version_trier import VersionTrier

_SECURITY = {"apiKey": {"type": "http", "scheme": "bearer", "description": "an API key, `shoal_…`"}}
_READ = (
    JobSpec,
    JobPatch,
    SettleBody,
    ScheduleSpec,
    ScheduleKeyBody,
    SecretBody,
    SitePatch,
    TenantPatch,
    Asked,
    AnswerBody,
    TakeoverBody,
    NotifyBody,
    VersionTryBody,
)
_WRITTEN = (ProblemView, SubmittedView, ResultView, RecordChangeView)
_MODELS: tuple[tuple[type[BaseModel], Literal["validation", "serialization"]], ...] = (
    *((model, "validation") for model in _READ),
    *((model, "serialization") for model in _WRITTEN),
)
"""Models that FastAPI does not see, since their routes read and write bytes."""
_OPEN_PATHS = frozenset({"/healthz", "/readyz"})


def create_app(deps: GatewayDeps) -> FastAPI:
    """The app. It owns nothing of `deps`: the caller that made the stores closes them."""
    authenticator = Authenticator(deps.store, required=deps.options.auth, requests_per_s=deps.options.requests_per_s)
    checker = SpecChecker(
        deps.options.rules, deps.names, deps.store.workflows, has_model=partial(has_model, deps.store)
    )
    quota = Quota(deps.store, deps.options.tenant_queued, deps.options.tenant_quotas)
    app = FastAPI(
        title="Shoal",
        version=version("shoal"),
        summary="A browser-automation cluster: jobs in, validated records out.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        form_limits={"max_fields": FORM_FIELDS, "max_files": 0, "max_part_size": FORM_FIELD_BYTES},
    )
    problems.install(app)
    submitter = Submitter(deps, checker, quota)
    trier = Trier(deps, checker, quota)
    add_routes(app, submit_routes(deps, authenticator, submitter))
    add_routes(app, batch_routes(deps, authenticator, checker, quota))
    add_routes(app, try_routes(deps, authenticator, trier))
    add_routes(app, job_routes(deps, authenticator))
    add_routes(app, change_routes(deps, authenticator))
    add_routes(app, session_routes(deps, authenticator))
    add_routes(app, draft_routes(deps, authenticator))
    rooms = app.state.live_rooms = LiveRooms(deps.store, deps.options.live_url if deps.options.help_token else "")
    add_routes(app, live_routes(deps, authenticator, rooms))
    add_routes(app, result_routes(deps, authenticator))
    feed = EventFeed(deps.store)
    add_routes(app, feed_routes(deps, authenticator, feed))
    add_routes(app, webhook_routes(deps, authenticator, checker))
    add_routes(app, question_routes(deps, authenticator))
    version_trier = VersionTrier(trier)
    add_routes(app, workflow_routes(deps, authenticator))
    add_routes(app, workflow_try_routes(deps, authenticator, version_trier))
    add_routes(app, schedule_routes(deps, authenticator, checker))
    add_routes(app, schedule_key_routes(deps, authenticator))
    add_routes(app, worker_routes(deps, authenticator))
    add_routes(app, secret_routes(deps, authenticator))
    add_routes(app, site_routes(deps, authenticator))
    add_routes(app, tenant_routes(deps, authenticator))
    add_routes(app, status_routes(deps, authenticator))
    if deps.options.dashboard:
        add_dashboard(app, deps, authenticator, submitter, trier, rooms, feed)
    app.add_middleware(AuditTrail, store=deps.store)
    app.add_middleware(RequestContext, metrics=deps.metrics)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's own way to extend the document

    # No coroutine: a thread makes the document, which takes more than a second, while others are served.
    @app.get("/openapi.json", include_in_schema=False)
    def openapi_document() -> JSONResponse:
        return JSONResponse(app.openapi())

    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """openapi.json: FastAPI's own, with the job spec, the problem documents and the keys."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        for model, mode in _MODELS:
            schema = model.model_json_schema(ref_template="#/components/schemas/{model}", mode=mode)
            schemas.update(schema.pop("$defs", {}))
            schemas[model.__name__] = schema
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        document["components"]["securitySchemes"] = _SECURITY
        for path, operations in document["paths"].items():
            for operation in operations.values():
                _complete(path, operation)
        app.openapi_schema = document
    return app.openapi_schema


def _complete(path: str, operation: dict[str, Any]) -> None:
    """Adds what holds for every operation: how it fails, and that it needs a key."""
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = {
        "description": "What went wrong (RFC 9457)",
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemView"}}},
        "headers": {
            "Retry-After": {
                "description": "of 429 and 503: seconds until it is worth another try",
                "schema": {"type": "integer", "minimum": 1},
            }
        },
    }
    if path not in _OPEN_PATHS:
        operation["security"] = [{"apiKey": []}, {}]
