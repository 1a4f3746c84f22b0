"""Routes whose functions are analyzed when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.routing import compile_path


class LazyRoute(APIRoute):
    """A route that knows its path and methods at once, and the rest from its first request or its documentation on.

    FastAPI reads a function's parameters and makes a validator for each of them and for each response. For all routes
    together that takes a tenth of a second, at each start of a gateway, and most are not asked for.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], *, methods: set[str] | None = None, **options: Any):
        self.path, self.endpoint = path, endpoint
        self.methods = {method.upper() for method in methods or {"GET"}}
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self._not_analyzed: dict[str, Any] | None = options

    def __getattr__(self, name: str) -> Any:
        """An attribute that is not there yet."""
        options = self.__dict__.get("_not_analyzed")
        if options is None:
            raise AttributeError(name)
        self._not_analyzed = None  # a name that FastAPI does not set either is missing
        super().__init__(self.path, self.endpoint, methods=self.methods, **options)
        return getattr(self, name)


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Adds the routes of a router as they are. `include_router` would analyze each a second time, for options of ours
    that there are none of."""
    app.router.routes.extend(router.routes)
