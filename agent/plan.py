"""One planning decision: what to do next, as one mini goal."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.types import TaskType


@dataclass(frozen=True, slots=True)
class Plan:
    """The next mini goal, or the end. Field names are those of the specification of the plan reply."""

    page_info: str = ""
    extraction_thought: str = ""
    task_history_information: str = ""
    thoughts: str = ""
    require_extraction: bool = False
    information_extracted: bool | None = None  # None when nothing is to be extracted
    user_goal_achieved: bool = False
    should_terminate: bool = False
    termination_reason: str | None = None
    error_codes: tuple[str, ...] = field(default_factory=tuple)  # the caller's own, on termination
    plan: str | None = None  # the mini goal; None when done
    task_type: TaskType | None = None
    loop_values: tuple[str, ...] | None = None  # None: the policy collects them from pages
    is_loop_value_link: bool = False
