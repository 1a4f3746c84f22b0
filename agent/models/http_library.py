"""The HTTP library that the installed openai package is built on: httpx2 from its version 3 on, httpx before.

AgentLab, whose agents run on the gym, needs the openai package before its version 2.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import openai

if TYPE_CHECKING:
    import httpx2 as http
    from openai import DefaultAsyncHttpx2Client as OpenAIHttpClient
else:
    _new = int(openai.__version__.partition(".")[0]) >= 3
    http = import_module("httpx2" if _new else "httpx")
    OpenAIHttpClient = openai.DefaultAsyncHttpx2Client if _new else openai.DefaultAsyncHttpxClient

__all__ = ["OpenAIHttpClient", "http"]
