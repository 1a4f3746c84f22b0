"""Advice for a person about each error of a session; docs/errors.md prints it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from shoal.agent import errors

ADVICE: Mapping[type[errors.AgentError], str] = MappingProxyType(
    {
        errors.BrowserError: "Nothing. Where many sessions end so, read the worker's log and give it more memory.",
        errors.BrowserGone: "Nothing. Where many sessions end so, give the workers more memory or fewer slots.",
        errors.BrowserNotFound: "Run `shoal doctor` on the worker's machine, and install what it names.",
        errors.NoBrowser: "Free memory or processes on the worker's machine, or lower its slots.",
        errors.PageCrashed: "Nothing. Where one site ends so each time, block its heavy resources by `browser.block`.",
        errors.PageHangs: "Open the page in a browser of your own. Where it hangs there, too, leave it out.",
        errors.NavigationError: "Check the address, and whether the workers' network reaches it.",
        errors.NavigationTimeout: (
            "Raise `SHOAL_NAVIGATION_TIMEOUT_S`, or lower the site's rate by `politeness` of the job."
        ),
        errors.HostUnreachable: "Check the host's name, and the DNS servers and the proxy of the workers.",
        errors.ConnectionLost: "Where it stays, look for a proxy or firewall that cuts connections.",
        errors.ServerBusy: "Lower the rate for this site, on its page of the dashboard or by `politeness` of the job.",
        errors.ServerFailed: "Wait, then retry the failed items: `shoal retry JOB`.",
        errors.PageMissing: "Take the item out of the list, or correct its address.",
        errors.AccessDenied: "Give the job a `login`, or ask the site's owner for access.",
        errors.RequestRefused: "Open the address in a browser of your own and compare what it sends.",
        errors.CertificateRefused: "Correct the address, or let the site's owner renew the certificate.",
        errors.NotAPage: "Take the address out, or fetch the file by the `download` action.",
        errors.LedElsewhere: "Correct the address, or name the other site's own address as the item.",
        errors.RobotsForbidden: "Ask the site's owner, or turn the rule off by `politeness.robots` where you may.",
        errors.AddressForbidden: "Correct the address. The operator allows own hosts by `SHOAL_ALLOW_HOSTS`.",
        errors.ActionError: "Look at the step's picture in the dashboard.",
        errors.ActionInvalid: "Correct the call: `shoal actions` lists the actions with their arguments.",
        errors.ElementMissing: "Observe the page again, and take the element's id from there.",
        errors.ElementNotUsable: "Look at the step's picture: something covers or disables the element.",
        errors.ActionTimeout: "Raise `SHOAL_ACTION_TIMEOUT_S`.",
        errors.ReadTimeout: "Nothing. Where one page ends so each time, raise `SHOAL_ACTION_TIMEOUT_S`.",
        errors.ActionRefused: "Allow the action in the job, or ask the operator.",
        errors.SiteRefused: "Name the site in `sites` of the job, together with its own, where it may act there.",
        errors.SiteNotSentTo: "Look at what was sent. Name the site in `sites` of the job where it may get forms.",
        errors.DownloadFailed: "Where the file is too large, raise `SHOAL_DOWNLOAD_LIMIT_MIB`.",
        errors.ReplyUnparsable: "Correct the reply at the place that is named.",
        errors.GoalNeedsModel: "Set `SHOAL_MODEL_URL`, or write `data`, `loop` and `extract` instead of the goal.",
        errors.ModelError: "Read the log of the model server.",
        errors.ModelUnavailable: "Check that the model server runs and has room: `shoal doctor`.",
        errors.ModelRefused: "Compare the model's name and limits with `SHOAL_MODEL` and the server's settings.",
        errors.PromptTooLong: "Take a model with a longer context, or raise its `--max-model-len`.",
        errors.PolicyUnavailable: "Name a policy that this installation has.",
        errors.WorkflowInvalid: "Correct the places that the message names.",
        errors.WorkflowMiss: "Give the job a `goal` and a model, or learn the workflow anew.",
        errors.ReplyInvalid: "Take a larger model, or a simpler schema.",
        errors.FieldsMissing: (
            "Look at the page's picture. Make it optional, or name its place in `extract.fields`; a list's entries, in "
            "`extract.records`."
        ),
        errors.PlaceMissing: "Correct the place: `shoal try` shows what a place finds.",
        errors.PlaceNotYet: "Name what to wait for in `extract.wait_for`.",
        errors.PlaceAmbiguous: "Make the place narrower, until it finds one element.",
        errors.RecordInvalid: "Compare the value in the message with the schema, and correct the one that is wrong.",
        errors.BadSelector: "Correct the selector: `shoal try` shows what it finds.",
        errors.EmptyLoop: "Open the list's page: it may need a login or a wait. Correct `loop.from`.",
        errors.AnswerMissing: "Ask more plainly, or allow more steps by `max_steps`.",
        errors.LoopFailed: "Look at the failed items: the job's page groups them by cause.",
        errors.UnsureAction: "Look at the site whether the action took place, then settle the session: `shoal settle`.",
        errors.ItemNotFound: "Compare the value with the page's own words for it.",
        errors.FormIncomplete: "Name the missing fields in `data`, by their labels.",
        errors.FormRefused: "Read the site's message in the error, and correct the data.",
        errors.FormUnclear: "Name the form's heading or button in the `goal`.",
        errors.SampleSendsNothing: "Nothing: submit the job itself to send the form.",
        errors.LoginFailed: "Check the user's name, the secret and the `login.steps` of the job.",
        errors.LoginLost: "Nothing. Where it comes back, let fewer sessions share the login.",
        errors.NothingWorks: "Watch the session's steps in the dashboard, and say the goal in smaller parts.",
        errors.StepLimit: "Raise `max_steps`, or say the goal in smaller parts.",
        errors.BudgetSpent: "Raise `budget` of the job.",
        errors.HelpMissing: "Answer the open questions in time, or raise `help.timeout_s`.",
        errors.DeadlinePassed: "Raise `deadline_s` of the job or `SHOAL_SESSION_TIMEOUT_S`.",
        errors.SecretRefused: "Store the secret, and bind it to the domain of the page that asks for it.",
        errors.ArtifactsAway: "Bring the artifact store back. Sessions go on by themselves.",
        errors.TraceRefused: "Ask for no trace of long sessions.",
        errors.NoRoom: "Free the disk or memory that the message names. Sessions go on by themselves.",
        errors.LeaseLost: "Nothing. Where it comes back, read why workers end: `shoal doctor`, and the workers' logs.",
        errors.ActionUnconfirmed: (
            "Look at the site whether the action took place, then settle the session: `shoal settle`."
        ),
        errors.Canceled: "Nothing.",
        errors.Unexpected: "Report it with the traceback of the log.",
        errors.DownloadRefused: (
            "Let the site serve the file by http(s), or raise `SHOAL_DOWNLOAD_COUNT` or `SHOAL_DOWNLOAD_TOTAL_MIB`."
        ),
        errors.EgressForbidden: "Correct the address, or ask the operator for the filter's rules.",
    }
)
"""By class, each class of `shoal.agent.errors` but the base of all."""
