"""Results as tables. pyarrow and pandas are imported when a table is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, cast

from shoal.errors import MissingDependency

if TYPE_CHECKING:
    import pandas
    import pyarrow


def needed(package: str, what: str) -> Any:
    """The module `package`, which `what` needs.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.partition(".")[0]
        if error.name != top:
            raise
        raise MissingDependency(f"{what} needs {top}, which is not installed: pip install {top}") from error


def arrow_of(parquet: IO[bytes]) -> pyarrow.Table:
    """The table of a Parquet file."""
    return cast("pyarrow.Table", needed("pyarrow.parquet", "to_arrow").read_table(parquet))


def pandas_of(table: pyarrow.Table) -> pandas.DataFrame:
    """The same rows for pandas."""
    needed("pandas", "to_pandas")
    return cast("pandas.DataFrame", table.to_pandas())
