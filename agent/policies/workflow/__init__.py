"""The policies that replay a workflow, and that run one in the shadow of a model."""

from shoal.agent.policies.workflow.policy import ReplayReport, WorkflowPolicy
from shoal.agent.policies.workflow.shadow import ShadowPolicy

__all__ = ["ReplayReport", "ShadowPolicy", "WorkflowPolicy"]
