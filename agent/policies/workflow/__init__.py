"""Policies that replay a workflow, that run one in parallel with its baseline, and that let one read documents."""

from shoal.agent.policies.workflow.by_document import DocumentPolicy
from shoal.agent.policies.workflow.parallel_run import ParallelRunPolicy
from shoal.agent.policies.workflow.policy import ReplayReport, WorkflowPolicy

__all__ = ["DocumentPolicy", "ParallelRunPolicy", "ReplayReport", "WorkflowPolicy"]
