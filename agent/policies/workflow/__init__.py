"""The policy that replays a workflow."""

from shoal.agent.policies.workflow.policy import ReplayReport, WorkflowPolicy

__all__ = ["ReplayReport", "WorkflowPolicy"]
