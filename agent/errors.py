"""Errors of the agent. The class says who acts; callers match on type, never on the message."""

from __future__ import annotations

import inspect
from enum import StrEnum

from shoal.agent.error_info import ErrorInfo


class Recourse(StrEnum):
    """Who can do something about an error."""

    RETRY = "retry"
    """The same session may try again after a pause: the cause passes by itself."""
    OTHER_SESSION = "other_session"
    """Another browser must try: this one is gone or tainted."""
    GIVE_UP = "give_up"
    """Trying again gives the same answer."""
    OPERATOR = "operator"
    """Something of the installation's own is full, away or missing. The session may try again when it is mended, as
    often as that takes: these attempts do not count."""
    CALLER = "caller"
    """The job itself must be changed."""


class AgentError(Exception):
    """Something went wrong in a session."""

    recourse: Recourse = Recourse.GIVE_UP
    code: str = "agent_error"

    def __init__(self, message: str | None = None, **details: object) -> None:
        self.details = details
        self.message = message or inspect.getdoc(type(self)) or type(self).__name__
        super().__init__(self.message)

    @property
    def retryable(self) -> bool:
        """True when another attempt may succeed with the job as it is."""
        return self.recourse in (Recourse.RETRY, Recourse.OTHER_SESSION, Recourse.OPERATOR)

    def info(self) -> ErrorInfo:
        """The record of this error that results, events and the store carry."""
        return ErrorInfo(cls=type(self).__name__, code=self.code, message=self.message, retryable=self.retryable)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders (Ray); the default would call __init__ without the details.
        return (_rebuild, (type(self), self.message, self.details))


def _rebuild(cls: type[AgentError], message: str, details: dict[str, object]) -> AgentError:
    return cls(message, **details)


# --- the browser ------------------------------------------------------------------------------------


class BrowserError(AgentError):
    """The browser failed."""

    recourse = Recourse.OTHER_SESSION
    code = "browser_error"


class BrowserGone(BrowserError):
    """The browser process ended or does not answer."""

    code = "browser_gone"


class BrowserNotFound(BrowserError):
    """No Chromium was found. Run `shoal doctor`, or name one with SHOAL_CHROMIUM."""

    recourse = Recourse.CALLER
    code = "browser_not_found"


class NoBrowser(BrowserError):
    """No browser could be started for this session."""

    recourse = Recourse.OPERATOR
    code = "no_browser"


class PageCrashed(BrowserError):
    """The page's renderer crashed or hangs."""

    code = "page_crashed"


class PageHangs(PageCrashed):
    """The page does not answer, while its browser does."""

    code = "page_hangs"


# --- navigation -------------------------------------------------------------------------------------


class NavigationError(AgentError):
    """The page could not be reached."""

    recourse = Recourse.RETRY
    code = "navigation_failed"


class NavigationTimeout(NavigationError):
    """The page did not load within its time."""

    code = "navigation_timeout"


class HostUnreachable(NavigationError):
    """The host's name does not resolve, or nothing accepts connections there."""

    code = "host_unreachable"


class ConnectionLost(NavigationError):
    """The connection ended before the page was whole."""

    code = "connection_lost"


class ServerBusy(NavigationError):
    """The site asks for a pause (429 or 503). `retry_after_s` says how long, where the site said it."""

    code = "server_busy"


class ServerFailed(NavigationError):
    """The site answered with a server error."""

    code = "server_failed"


class PageMissing(NavigationError):
    """The site says that this page does not exist or is gone (404, 410, or in words in an item's place)."""

    recourse = Recourse.GIVE_UP
    code = "page_missing"


class AccessDenied(NavigationError):
    """The site refuses access (401, 403, 451), or shows a login or a puzzle for people in an item's place."""

    recourse = Recourse.GIVE_UP
    code = "access_denied"


class RequestRefused(NavigationError):
    """The site refuses this request with another 4xx status."""

    recourse = Recourse.GIVE_UP
    code = "request_refused"


class CertificateRefused(NavigationError):
    """The site's certificate is not trusted: self-signed, out of date, or made for another host."""

    recourse = Recourse.GIVE_UP
    code = "certificate_refused"


class NotAPage(NavigationError):
    """The address gives a file, not a page."""

    recourse = Recourse.GIVE_UP
    code = "not_a_page"


class LedElsewhere(NavigationError):
    """An item's link led to another site than the one that it names: what stands there is not taken for the item."""

    recourse = Recourse.GIVE_UP
    code = "led_elsewhere"


class RobotsForbidden(NavigationError):
    """The site's robots.txt forbids this page; `politeness.robots` of the job turns the rule off."""

    recourse = Recourse.GIVE_UP
    code = "robots_forbidden"


class AddressForbidden(NavigationError):
    """The address is not on the web; or it is private, loopback, link-local or a metadata service, which the operator
    does not allow."""

    recourse = Recourse.CALLER
    code = "address_forbidden"


class EgressForbidden(AddressForbidden):
    """The cluster's egress filter refused the address. The site was not asked."""


# --- actions: what the next observation shows --------------------------------------------------------


class ActionError(AgentError):
    """The action failed; the session goes on and the next observation says so."""

    code = "action_failed"


class ActionInvalid(ActionError):
    """No such action, or its arguments do not fit its signature."""

    code = "action_invalid"


class ElementMissing(ActionError):
    """No element has this id now; observe again."""

    code = "element_missing"


class ElementNotUsable(ActionError):
    """The element is disabled, hidden, covered or not of the kind that this action needs."""

    code = "element_not_usable"


class ActionTimeout(ActionError):
    """The action did not finish within its time."""

    code = "action_timeout"


class ReadTimeout(ActionTimeout):
    """The page could not be read within its time, though it answers: its machine was busy or stood still, or the page
    is very large."""

    recourse = Recourse.OTHER_SESSION
    code = "read_timeout"


class ActionRefused(ActionError):
    """The operator or the job does not allow this action."""

    code = "action_refused"


class SiteRefused(ActionRefused):
    """The action would type or send something on a site that the job may not act on, or open an address there that no
    page gave; `sites` of the job names those where it may."""

    recourse = Recourse.CALLER
    code = "site_refused"


class SiteNotSentTo(ActionError):
    """A form was about to go to a site that the job may not act on, by the page's script or by the answer of its own
    site, and was held back; `sites` of the job names those where it may."""

    recourse = Recourse.CALLER
    code = "site_not_sent_to"


class DownloadFailed(ActionError):
    """The download did not start, did not end, or is too large."""

    code = "download_failed"


class DownloadRefused(DownloadFailed):
    """The file was not waited for: where it comes from, or how much came before it."""


class ReplyUnparsable(AgentError):
    """The reply is not in the notation that was asked for; `place` says where."""

    code = "reply_unparsable"


# --- deciding ---------------------------------------------------------------------------------------


class GoalNeedsModel(AgentError):
    """The rules policy cannot plan this goal; configure a model (SHOAL_MODEL_URL) or spell it out in data."""

    recourse = Recourse.CALLER
    code = "goal_needs_model"


class ModelError(AgentError):
    """The model server could not be asked."""

    recourse = Recourse.RETRY
    code = "model_error"


class ModelUnavailable(ModelError):
    """The model server is not reachable, overloaded or too slow."""

    code = "model_unavailable"


class ModelRefused(ModelError):
    """The model server refused the request itself."""

    recourse = Recourse.CALLER
    code = "model_refused"


class PromptTooLong(ModelRefused):
    """The prompt does not fit the model's context."""

    code = "prompt_too_long"


class PolicyUnavailable(AgentError):
    """The policy that the job asks for cannot be had here."""

    recourse = Recourse.CALLER
    code = "policy_unavailable"


class WorkflowInvalid(AgentError):
    """The given text or object is no workflow. The message names the place of each fault."""

    recourse = Recourse.CALLER
    code = "workflow_invalid"


class WorkflowMiss(AgentError):
    """The page is not as the workflow knows it, and no policy stands behind the workflow."""

    code = "workflow_miss"


class ReplyInvalid(ModelError):
    """The model's reply does not fit its schema, and neither did the second one."""

    recourse = Recourse.RETRY
    code = "reply_invalid"


class FieldsMissing(AgentError):
    """The page does not show fields that the schema requires; of a list, no record at all, and it does not say that the
    list is empty."""

    code = "fields_missing"

    def __init__(self, message: str | None = None, **details: object) -> None:
        super().__init__(message, **details)
        if details.get("awaited"):  # content was still coming when the wait for it ended
            self.recourse = Recourse.RETRY


class PlaceMissing(FieldsMissing):
    """A place that `extract` gives is not on the page."""

    code = "place_missing"


class PlaceNotYet(PlaceMissing):
    """A place that `extract` gives, or waits for, is not on the page, which still loads."""

    recourse = Recourse.RETRY
    code = "place_not_yet"


class PlaceAmbiguous(AgentError):
    """A place that `extract` gives is several elements, and they say different things."""

    code = "place_ambiguous"


class RecordInvalid(AgentError):
    """The record that was read from the page does not fit the job's schema."""

    code = "record_invalid"


class BadSelector(AgentError):
    """The selector of the loop or of `extract` is no CSS that the browser can read."""

    recourse = Recourse.CALLER
    code = "bad_selector"


class EmptyLoop(AgentError):
    """The loop found no items."""

    code = "empty_loop"


class AnswerMissing(AgentError):
    """The goal asks for an answer, and the session ended without one."""

    code = "answer_missing"


class LoopFailed(AgentError):
    """No item of the loop succeeded, or one failed and the loop was to stop then."""

    code = "loop_failed"


class UnsureAction(AgentError):
    """An action that must not be repeated may or may not have taken place; a person must settle it."""

    code = "unsure_action"


class ItemNotFound(AgentError):
    """The page shows nothing that this loop value names."""

    code = "item_not_found"


class FormIncomplete(AgentError):
    """The form could not be filled or was not accepted."""

    code = "form_incomplete"


class FormRefused(FormIncomplete):
    """The site says that it did not take the form."""


class SampleSendsNothing(AgentError):
    """A sample of a job sends no form: it ended where the job would send one."""

    code = "sample_sends_nothing"


class LoginFailed(AgentError):
    """The login's form was sent, and the site still asks for a login."""

    recourse = Recourse.CALLER
    code = "login_failed"


class LoginLost(AgentError):
    """The site asks for a login that it had taken before: another attempt begins with a new one."""

    recourse = Recourse.RETRY
    code = "login_lost"


class FormUnclear(FormIncomplete):
    """Several forms, or several buttons of one form, may be meant; the message lists them."""


class NothingWorks(AgentError):
    """Whatever was tried on the page failed, several times in a row."""

    recourse = Recourse.OTHER_SESSION
    code = "nothing_works"


class StepLimit(AgentError):
    """The session used up its steps before the goal was reached."""

    code = "step_limit"


class BudgetSpent(AgentError):
    """The tokens that the job allows are spent; `budget` of the job raises the limit."""

    recourse = Recourse.CALLER
    code = "budget_spent"


class HelpMissing(ActionError):
    """No answer came in time, or there is no helper to ask. Of all failed actions only this one ends the session."""

    code = "help_missing"


class DeadlinePassed(AgentError):
    """The time that the job or the installation allows ran out."""

    code = "deadline_passed"


class SecretRefused(AgentError):
    """The secret is unknown, or this page's domain is not one it may be used on."""

    recourse = Recourse.CALLER
    code = "secret_refused"


class ArtifactsAway(AgentError):
    """The artifact store does not take what the session must keep."""

    recourse = Recourse.OPERATOR
    code = "artifacts_away"


class TraceRefused(AgentError):
    """Playwright's trace of a session is too large to be kept, or of a format that is not known."""

    code = "trace_refused"


class NoRoom(AgentError):
    """The machine has no room left: its disk is full or can only be read, or it has no files or memory to give."""

    recourse = Recourse.OPERATOR
    code = "no_room"


class LeaseLost(AgentError):
    """The session's worker ended, or was not heard of, before it reported. Up to ten such attempts do not count."""

    recourse = Recourse.RETRY
    code = "lease_lost"


class ActionUnconfirmed(LeaseLost):
    """The worker was lost inside an action that must not be repeated. The session becomes `unsure`."""

    recourse = Recourse.GIVE_UP
    code = "action_unconfirmed"


class Canceled(AgentError):
    """The owner canceled or paused this session."""

    code = "canceled"


class Unexpected(AgentError):
    """A bug in Shoal, or something unforeseen; the log has the traceback."""

    recourse = Recourse.OTHER_SESSION
    code = "unexpected"
