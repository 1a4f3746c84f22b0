"""Which policy a job gets."""

from __future__ import annotations

from shoal.agent.errors import GoalNeedsModel, PolicyUnavailable
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.workflow import DocumentPolicy, ParallelRunPolicy, WorkflowPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import LearnedUse
from shoal.agent.workflows.format.workflow import read_once

WORKFLOW = "workflow:"


def check_policy(policy: str, *, model: bool) -> None:
    """Refuses a job that no worker here could do, when it is submitted.

    Args:
        policy: as the job spec has it.
        model: whether a model server is configured.

    Raises:
        GoalNeedsModel: the job wants the model policy, and there is no model.
    """
    if policy == "model" and not model:
        raise GoalNeedsModel("`policy` is model, but no model server is configured (SHOAL_MODEL_URL)")


def workflow_named(policy: str) -> tuple[str, int | None]:
    """Name and version of the workflow that a policy names; version None: the active one."""
    name, _, version = policy.removeprefix(WORKFLOW).partition("@")
    return name, int(version) if version else None


def choose(spec: JobSpec, *, rules: Policy, model: Policy | None, leaf: bool = True) -> Policy:
    """The policy of one session: with "auto" the model where there is one, else the rules.

    Args:
        spec: of the job.
        leaf: False for a session that has a loop to do. Workflows replay what is done for one item; the items
            themselves are found by the model or by the rules.

    Raises:
        PolicyUnavailable: the job names a workflow and has none.
        WorkflowInvalid: its workflow is none.
        GoalNeedsModel: as `check_policy` says.
    """
    check_policy(spec.policy, model=model is not None)
    if spec.policy.startswith(WORKFLOW) and leaf:
        name, _ = workflow_named(spec.policy)
        if spec.workflow is None:
            raise PolicyUnavailable(f"`policy`: the job has no workflow {name!r} with it")
        # Only a model may go on after a miss: rules that read what the workflow did not would hide it.
        behind = model if spec.on_miss == "model" and spec.for_a_model else None
        return WorkflowPolicy(name, read_once(spec.workflow).versions[0], behind=behind)
    return rules if model is None or spec.policy in ("rules", "person") else model


def with_learned(policy: Policy, spec: JobSpec, use: LearnedUse | None, *, documents: bool = False) -> Policy:
    """The policy of an item whose loop has learned `spec.workflow` from `policy`.

    Args:
        policy: that `choose` gave.
        use: what the item does with the workflow; None: nothing.
        documents: the item's document may stand for its page. What the rules have taught is used for documents alone:
            of a page that a browser has open the rules are as quick, and they are what a workflow is held to.
    """
    if use in (None, LearnedUse.TEACH):
        return policy
    assert spec.workflow is not None, "the store gives an item the workflow that it is to replay"
    learned = read_once(spec.workflow)
    version, audited = learned.versions[0], use is LearnedUse.AUDIT
    if use is LearnedUse.SHADOW:
        return ParallelRunPolicy(learned.name, version, policy)
    if not policy.instant:
        replay = WorkflowPolicy(learned.name, version, behind=policy)
        return replay.to_be_audited() if audited else replay
    if not documents or version.acts:
        return policy
    return DocumentPolicy(learned.name, version, policy, audited=audited)
