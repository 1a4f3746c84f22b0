"""The job spec: what a caller asks for. Unknown fields are refused by name."""

from shoal.agent.spec.browser_spec import BrowserSpec, ProxySpec, Viewport
from shoal.agent.spec.extract_spec import X_KEY, ExtractSpec, FieldPlace, Reader, schema_text
from shoal.agent.spec.job_spec import (
    ArtifactsSpec,
    BudgetSpec,
    HelpSpec,
    JobSpec,
    PolitenessSpec,
    SecretUse,
    SightSpec,
    WebhookSpec,
)
from shoal.agent.spec.login_spec import LoginSpec, LoginStep
from shoal.agent.spec.loop_spec import LoopFrom, LoopSpec
from shoal.agent.spec.notify_spec import NotifySpec
from shoal.agent.spec.part import HttpUrl

__all__ = [
    "X_KEY",
    "ArtifactsSpec",
    "BrowserSpec",
    "BudgetSpec",
    "ExtractSpec",
    "FieldPlace",
    "HelpSpec",
    "HttpUrl",
    "JobSpec",
    "LoginSpec",
    "LoginStep",
    "LoopFrom",
    "LoopSpec",
    "NotifySpec",
    "PolitenessSpec",
    "ProxySpec",
    "Reader",
    "SecretUse",
    "SightSpec",
    "Viewport",
    "WebhookSpec",
    "schema_text",
]
