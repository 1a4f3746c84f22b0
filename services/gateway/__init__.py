"""The HTTP gateway: `create_app(GatewayDeps(...))`."""

from services.gateway.app import create_app
from services.gateway.deps import GatewayDeps, GatewayOptions
from services.gateway.specs import SpecRules

__all__ = ["GatewayDeps", "GatewayOptions", "SpecRules", "create_app"]
