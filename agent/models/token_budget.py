"""Model tokens that a job may spend: whether the next request may be made. Counted as the server counts them."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.agent.errors import BudgetSpent
from shoal.agent.spec import BudgetSpec
from shoal.agent.types import Usage


def tokens(usage: Usage) -> int:
    """Prompt and reply together; those from the server's cache count too."""
    return usage.prompt_tokens + usage.completion_tokens


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens spent so far, at the three heights that a budget knows."""

    step: int  # by this decision
    session: int  # by this session, earlier attempts included
    job: int  # by all sessions, as far as this one knows


def check_budget(budget: BudgetSpec, spent: Spent) -> None:
    """Lets the next request pass, or says which budget is spent. Pure.

    The size of a request is not known before the server has counted it, so the request that crosses a limit is made;
    the next one is not.

    Raises:
        BudgetSpent: `scope`, `spent` and `limit` are in its details.
    """
    limits = (
        ("step", budget.step_tokens, spent.step),
        ("session", budget.session_tokens, spent.session),
        ("job", budget.job_tokens, spent.job),
    )
    for scope, limit, used in limits:
        if limit is not None and used >= limit:
            raise BudgetSpent(
                f"the {scope} has spent {used:,} of {limit:,} tokens", scope=scope, spent=used, limit=limit
            )
