"""Public ids: `j123` for jobs, `s456` for sessions, `w789` for webhook deliveries."""

from __future__ import annotations

from shoal.services.errors import NotFound

_LARGEST = 2**63 - 1  # what the id columns hold


def job_id(job: int) -> str:
    """The public id of a job."""
    return f"j{job}"


def session_id(session: int) -> str:
    """The public id of a session."""
    return f"s{session}"


def delivery_id(delivery: int) -> str:
    """The public id of a webhook delivery."""
    return f"w{delivery}"


def parse_job(text: str) -> int:
    """The job that a public id names.

    Raises:
        NotFound: it is not the id of a job.
    """
    return _parse("j", "job", text)


def parse_session(text: str) -> int:
    """The session that a public id names.

    Raises:
        NotFound: it is not the id of a session.
    """
    return _parse("s", "session", text)


def parse_delivery(text: str) -> int:
    """The webhook delivery that a public id names.

    Raises:
        NotFound: it is not the id of one.
    """
    return _parse("w", "webhook delivery", text)


def _parse(letter: str, noun: str, text: str) -> int:
    digits = text[1:]
    if text[:1] == letter and digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= _LARGEST:
        return int(digits)
    raise NotFound(f"there is no {noun} {text!r}")
