"""Why the records of a job could not be written to one of its sinks."""

from __future__ import annotations


class SinkFault(Exception):
    """An attempt failed; the message is for the job's owner.

    `final`: another attempt would end the same. `retry_after_s`: what the receiver asked for.
    """

    def __init__(self, reason: str, *, final: bool = False, retry_after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.final = final
        self.retry_after_s = retry_after_s
