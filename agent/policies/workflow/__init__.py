"""The policies that replay a workflow, that run one in its teacher's shadow, and that let one read documents."""

from shoal.agent.policies.workflow.by_document import DocumentPolicy
from shoal.agent.policies.workflow.policy import ReplayReport, WorkflowPolicy
from shoal.agent.policies.workflow.shadow import ShadowPolicy

__all__ = ["DocumentPolicy", "ReplayReport", "ShadowPolicy", "WorkflowPolicy"]
