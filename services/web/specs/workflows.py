"""The workflow that a job replays: named and stored, or brought along; checked before the job is stored."""

from __future__ import annotations

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.spec import JobSpec
from shoal.agent.workflows.format.workflow import Workflow, read_workflow, write_workflow
from shoal.services.errors import BadInput, NotFound
from shoal.services.store.workflows.records import usable
from shoal.services.store.workflows.workflow_store import WorkflowStore
from shoal.services.web.specs.spec_checks import address_fault

WORKFLOW = "workflow:"
Fault = dict[str, str]


def workflow_faults(spec: JobSpec) -> list[Fault]:
    """Return what is wrong with the workflow that a job brings, and with what it asks of one."""
    if not spec.policy.startswith(WORKFLOW):
        if not spec.url:
            return [_fault("url", "is required")]
        given = {"workflow": spec.workflow is not None, "on_miss": spec.on_miss != "model"}
        return [_fault(field, "goes with `policy`: workflow:NAME") for field, is_given in given.items() if is_given]
    faults: list[Fault] = []
    if spec.login is not None:
        faults.append(_fault("login", "does not go with a workflow: let the workflow, or another job, log in"))
    if spec.workflow is not None:
        faults += _of_given(spec)
    return faults


def _of_given(spec: JobSpec) -> list[Fault]:
    try:
        given = read_workflow(spec.workflow)
    except WorkflowInvalid as error:
        return [_fault("workflow", error.message)]
    name, number = named(spec.policy)
    if given.name != name:
        return [_fault("workflow.name", f"is {given.name!r}, and `policy` names {name!r}")]
    if len(given.versions) != 1:
        return [_fault("workflow.versions", "must be the one version to replay")]
    if number not in (None, given.versions[0].number):
        return [_fault("workflow.versions", f"has number {given.versions[0].number}, and `policy` names {number}")]
    return []


async def check_learn(spec: JobSpec, tenant: str, workflows: WorkflowStore | None) -> None:
    """Lets a job pass that names no workflow to begin with, or one that can be replayed.

    Raises:
        BadInput: the tenant has no such workflow, or no version of it can be replayed.
    """
    if spec.learn in ("auto", "off"):
        return
    name, number = named(spec.learn)
    if workflows is None:
        raise _refused(f"no workflow {name!r} is stored here", "learn")
    try:
        row = await workflows.get(tenant, name)
    except NotFound as error:
        raise _refused(error.message, "learn") from None
    if usable(row, number) is None:
        reason = "no version is active" if number is None else f"there is no version {number} that can be replayed"
        raise _refused(f"{reason} of the workflow {name!r}", "learn")


def named(policy: str) -> tuple[str, int | None]:
    """Name and version of the workflow that a policy names; version None: the active one."""
    name, _, version = policy.removeprefix(WORKFLOW).partition("@")
    return name, int(version) if version else None


async def with_workflow(spec: JobSpec, tenant: str, workflows: WorkflowStore | None) -> JobSpec:
    """The job with the version that it names, as it is now: what becomes of the workflow later does not change the job.

    Raises:
        BadInput: the tenant has no such workflow, or none of its versions is active.
    """
    name, number = named(spec.policy)
    if workflows is None:
        raise _refused(f"no workflow {name!r} is stored here: give it as `workflow`")
    try:
        row = await workflows.get(tenant, name)
    except NotFound as error:
        raise _refused(error.message) from None
    chosen = row.active
    if number is not None:
        chosen = next((version for version in row.versions if version.version.number == number), None)
    if chosen is None:
        reason = "no version is active" if number is None else f"there is no version {number}"
        raise _refused(f"{reason} of the workflow {name!r}")
    if chosen.version.state == "broken":
        raise _refused(f"version {chosen.version.number} of the workflow {name!r} is broken: {chosen.why}")
    frozen = Workflow(name=name, scope=row.scope, versions=(chosen.version,))
    return spec.model_copy(update={"workflow": write_workflow(frozen)})


def begun(spec: JobSpec) -> JobSpec:
    """The job with the address at which its workflow begins, where it says none itself.

    Raises:
        BadInput: the workflow says none either, or one that is no address to begin at.
    """
    if spec.url or spec.workflow is None:
        return spec
    version = read_workflow(spec.workflow).versions[0]
    if not version.begins_at:
        name, _ = named(spec.policy)
        raise _refused(
            f"is required: version {version.number} of the workflow {name!r} does not say where runs begin", "url"
        )
    if (fault := address_fault(version.begins_at)) is not None:
        raise _refused(f"as the workflow says it, {fault}", "url")
    return spec.model_copy(update={"url": version.begins_at})


def _refused(reason: str, field: str = "policy") -> BadInput:
    return BadInput(f"The job is not valid: {field}: {reason}.", errors=[_fault(field, reason)])


def _fault(field: str, reason: str) -> Fault:
    return {"field": field, "reason": reason}
