"""Which policy a job gets."""

from __future__ import annotations

from shoal.agent.errors import GoalNeedsModel, PolicyUnavailable
from shoal.agent.policies.policy import Policy

_WORKFLOW = "workflow:"


def check_policy(wanted: str, *, model: bool) -> None:
    """Refuses, at the gate, what no worker here could do.

    Args:
        wanted: `policy` of the job spec.
        model: whether a model server is configured.

    Raises:
        PolicyUnavailable: the job wants to replay a workflow.
        GoalNeedsModel: the job wants the model policy, and there is no model.
    """
    if wanted.startswith(_WORKFLOW):
        raise PolicyUnavailable("`policy`: workflows are not available in this version; use auto, model or rules")
    if wanted == "model" and not model:
        raise GoalNeedsModel("`policy` is model, but no model server is configured (SHOAL_MODEL_URL)")


def choose(wanted: str, *, rules: Policy, model: Policy | None) -> Policy:
    """The policy for a job that asks for `wanted`: with "auto" the model where there is one, else the rules.

    Raises:
        PolicyUnavailable, GoalNeedsModel: as `check_policy` says.
    """
    check_policy(wanted, model=model is not None)
    return rules if model is None or wanted == "rules" else model
