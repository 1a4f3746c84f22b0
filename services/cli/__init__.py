"""The command line. Records go to standard output, everything else to standard error."""

from services.cli.app import main

__all__ = ["main"]
