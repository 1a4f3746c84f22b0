"""The command line. Records go to standard output, everything else to standard error."""

from shoal.services.cli.app import main

__all__ = ["main"]
