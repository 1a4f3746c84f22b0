"""PostgreSQL's errors by their SQLSTATE: a store knows them as psycopg's own classes do, without importing it."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import DBAPIError

from shoal.services.store.database.database import _is_race, away, is_away

URL = make_url("postgresql+psycopg://db.example/shoal")


def wrapped(cause: psycopg.Error) -> DBAPIError:
    """The error that SQLAlchemy raises for one of the driver."""
    error = DBAPIError.instance("select 1", None, cause, psycopg.Error, dialect=create_engine(URL).dialect)
    assert isinstance(error, DBAPIError)
    return error


@pytest.mark.parametrize("kind", [errors.DeadlockDetected, errors.SerializationFailure, errors.UniqueViolation])
def test_a_transaction_that_lost_a_race_runs_again(kind: type[psycopg.Error]) -> None:
    assert _is_race(wrapped(kind("lost")))


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (psycopg.OperationalError("refused"), "does not answer: refused"),
        (psycopg.InterfaceError("closed"), "does not answer: closed"),
        (errors.ConnectionTimeout("late"), "does not answer: late"),
        (errors.AdminShutdown("ended"), "does not answer: ended"),
        (errors.DiskFull("no room"), "the disk of the database server db.example is full"),
        (errors.QueryCanceled("too long"), "is statement_timeout too short?"),
    ],
)
def test_a_database_that_cannot_be_used_is_away(cause: psycopg.Error, told: str) -> None:
    error = wrapped(cause)
    assert is_away(error) and not _is_race(error)
    assert told in str(away(URL, error))


def test_a_server_that_only_reads_is_told_as_such() -> None:
    assert "only reads" in str(away(URL, wrapped(errors.ReadOnlySqlTransaction("read only"))))


@pytest.mark.parametrize("kind", [errors.SyntaxError, errors.UndefinedTable, errors.NumericValueOutOfRange])
def test_a_wrong_statement_is_not_taken_for_a_database_that_is_away(kind: type[psycopg.Error]) -> None:
    error = wrapped(kind("wrong"))
    assert not is_away(error) and not _is_race(error)
