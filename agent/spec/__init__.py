"""The job spec: what a caller asks for. Unknown fields are refused by name."""

from shoal.agent.spec.browser_spec import BrowserSpec, ProxySpec, Viewport
from shoal.agent.spec.extract_spec import X_GLOSSARY, X_KEY, ExtractSpec, FieldPlace, Reader, schema_text
from shoal.agent.spec.job_spec import (
    ArtifactsSpec,
    BudgetSpec,
    ChangesSpec,
    HelpSpec,
    JobSpec,
    PolitenessSpec,
    SecretUse,
    SightSpec,
    WebhookSpec,
)
from shoal.agent.spec.login_spec import LoginSpec, LoginStep
from shoal.agent.spec.loop_spec import LoopFrom, LoopSpec, SitemapSpec
from shoal.agent.spec.notify_spec import NotifySpec
from shoal.agent.spec.part import HttpUrl
from shoal.agent.spec.sink_spec import (
    SINK_KINDS,
    FolderSink,
    HttpSink,
    PostgresSink,
    S3Sink,
    SheetsSink,
    SinkSpec,
)

__all__ = [
    "SINK_KINDS",
    "X_GLOSSARY",
    "X_KEY",
    "ArtifactsSpec",
    "BrowserSpec",
    "BudgetSpec",
    "ChangesSpec",
    "ExtractSpec",
    "FieldPlace",
    "FolderSink",
    "HelpSpec",
    "HttpSink",
    "HttpUrl",
    "JobSpec",
    "LoginSpec",
    "LoginStep",
    "LoopFrom",
    "LoopSpec",
    "NotifySpec",
    "PolitenessSpec",
    "PostgresSink",
    "ProxySpec",
    "Reader",
    "S3Sink",
    "SecretUse",
    "SheetsSink",
    "SightSpec",
    "SinkSpec",
    "SitemapSpec",
    "Viewport",
    "WebhookSpec",
    "schema_text",
]
