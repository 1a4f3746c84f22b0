"""Every setting of Shoal, and the only place that reads the environment.

A setting named `port` is read from `SHOAL_PORT`; an empty variable counts as not set. Entry points call `load_settings`
once and hand values down; nothing else looks at the environment.

To add a setting:
1. Put it into the group of the part that uses it, by `_setting(default, meaning, part=…, unit=…)`, with its bounds.
2. Durations carry their unit in the name (`_s`, `_minutes`), sizes too (`_mib`, `_kib`); the meaning is one sentence.
3. A secret is a `SecretStr`; an address that may hold a password is `secret=True`, so that no message shows it.
4. Use it: an entry point passes the value on. A setting that nothing reads does not belong here.
5. Run `scripts/settings-doc` (a unit test says when docs/settings.md is stale).
6. Where an operator of a cluster needs it, name it in the Helm chart's values.
"""

from __future__ import annotations

import difflib
import ipaddress
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_origin
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic.config import JsonDict

from shoal.services.artifacts.options import BUCKETS, PLACES, ArtifactOptions, S3Options
from shoal.services.errors import BadSetting

PREFIX = "SHOAL_"

_MOST_WEIGHT = 1e6

_SECRET_LENGTH = 32

OF_TENANT = "{tenant}"
"""Stands for the name of a tenant in a folder that each tenant has of its own."""

# Kubernetes puts SHOAL_PORT=tcp://10.0.0.7:8700 and the like into every pod beside a Service named `shoal`. These are
# no settings of ours, and must not stop the process.
_SERVICE_LINK_NAME = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)")
_SERVICE_LINK_VALUE = re.compile(r"(tcp|udp|sctp)://\S+")


def _is_service_link(name: str, value: str | None) -> bool:
    return bool(
        _SERVICE_LINK_NAME.fullmatch(name.upper())
        or (name.upper().endswith("PORT") and _SERVICE_LINK_VALUE.fullmatch(value or ""))
    )


def _usable_cpus() -> int:
    """CPUs that this process may use: its affinity, and the quota of its container where there is one."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        return cpus
    return cpus if quota == "max" else max(1, min(cpus, int(quota) // int(period)))


def _data_home() -> Path:
    """Shoal's folder in the user's data home (XDG base directories)."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "shoal"


def _setting(
    default: Any,
    meaning: str,
    *,
    part: str,
    unit: str = "",
    shown: str | None = None,
    secret: bool = False,
    **bounds: Any,
) -> Any:
    """A field with its documentation.

    Args:
        default: the value, or a function that gives it (with the fields above it, where it takes an argument).
        part: the part of Shoal that uses the setting.
        shown: how the documentation writes a default that a function gives.
        secret: no message may show the value.
    """
    schema_extra: JsonDict = {"part": part, "unit": unit, "shown": shown, "secret": secret}
    if callable(default):
        return Field(
            default_factory=default, description=meaning, json_schema_extra=schema_extra, repr=not secret, **bounds
        )
    return Field(default, description=meaning, json_schema_extra=schema_extra, repr=not secret, **bounds)


def _in_data_dir(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda above: above["data_dir"] / name


class Settings(BaseModel):
    """All settings, checked. Frozen; can be pickled to other processes, which then do not read their environment."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    def __init__(self, **overrides: Any) -> None:
        super().__init__(**{**_given(os.environ), **overrides})

    # --- everywhere -----------------------------------------------------------------------------------

    data_dir: Path = _setting(
        _data_home,
        "Folder of everything that Shoal keeps on this machine.",
        part="store, artifacts, cluster",
        shown="`$XDG_DATA_HOME/shoal`, else `~/.local/share/shoal`",
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", "Log lines below this level are dropped.", part="logs"
    )
    log_format: Literal["auto", "console", "json"] = _setting(
        "auto", "How log lines look; `auto` is `console` on a terminal, else `json`.", part="logs"
    )

    traces_url: str = _setting(
        "",
        "Collector of traces: OTLP over HTTP, `http://HOST:4318/v1/traces`; empty: no traces.",
        part="everywhere",
    )
    traces_share: float = _setting(
        1.0, "Share of the jobs that are traced, each whole or not at all.", part="everywhere", ge=0, le=1
    )

    # --- store ----------------------------------------------------------------------------------------

    store_url: str = _setting(
        lambda above: f"sqlite:///{above['data_dir'] / 'shoal.db'}",
        "The database: `sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST:PORT/NAME`.",
        part="store",
        shown="SQLite: `shoal.db` in the data folder",
        secret=True,
    )

    retention_days: float = _setting(
        0.0,
        "Finished jobs are archived to the artifact store and dropped after so many days, where they ask for nothing "
        "themselves; 0: never.",
        part="store",
        unit="days",
        ge=0,
    )

    # --- artifacts ------------------------------------------------------------------------------------

    artifacts_url: str = _setting(
        lambda above: str(above["data_dir"] / "artifacts"),
        "Where screenshots and downloads are kept: a folder, `s3://BUCKET/PREFIX` (Google Cloud Storage, too), "
        "`az://CONTAINER/PREFIX` (with the extra `azure`), or `memory:`.",
        part="artifacts",
        shown="`artifacts` in the data folder",
    )
    s3_endpoint_url: str = _setting(
        "", "Address of an S3 service other than AWS. Credentials come from boto3's own chain.", part="artifacts"
    )
    s3_public_url: str = _setting(
        "", "Address under which callers reach the S3 service, for signed URLs, where it differs.", part="artifacts"
    )
    s3_region: str = _setting("", "Region of the bucket; empty: boto3's own chain.", part="artifacts")
    s3_addressing: Literal["auto", "path", "virtual"] = _setting(
        "auto", "Whether the bucket's name stands in the path or in the host name of requests.", part="artifacts"
    )
    s3_encryption: Literal["", "AES256", "aws:kms"] = _setting(
        "", "Server-side encryption that each upload asks for; empty: what the bucket does.", part="artifacts"
    )
    s3_kms_key: str = _setting("", "Key id for `aws:kms`; empty: the account's default key.", part="artifacts")
    artifact_url_s: int = _setting(
        300, "A signed artifact URL expires after this time.", part="gateway", unit="s", ge=1, le=604_800
    )
    artifact_spill_mib: int = _setting(
        512, "Uploads that one process keeps on disk while the store is away.", part="artifacts", unit="MiB", ge=0
    )

    # --- gateway and command line ---------------------------------------------------------------------

    host: str = _setting("127.0.0.1", "Address that the gateway listens on.", part="gateway")
    port: int = _setting(8700, "Port that the gateway listens on; 0: any free one.", part="gateway", ge=0, le=65_535)
    metrics_port: int = _setting(
        0,
        "Port of `/metrics` alone, on the same address and without a key: keep all but the scraper from it. 0: none. "
        "At the gateway's own port `/metrics` needs a key with the scope `admin`, wherever keys are needed.",
        part="gateway",
        ge=0,
        le=65_535,
    )
    public_url: str = _setting(
        "", "Address under which callers reach the gateway, for links in answers and webhooks.", part="gateway"
    )
    auth: Literal["auto", "on", "off"] = _setting(
        "auto", "Whether API keys are needed; `auto`: only when the gateway listens beyond loopback.", part="gateway"
    )
    cookie_secret: SecretStr = _setting(
        SecretStr(""),
        "Signs the dashboard's logins, 32 characters or more; the same for all gateways behind one address. "
        "Empty: each start makes its own, which ends all logins.",
        part="gateway",
    )
    login_header: str = _setting(
        "",
        "Header in which a proxy in front of the gateway names the person that it has let in; empty: none does.",
        part="gateway",
    )
    login_proxies: tuple[str, ...] = _setting(
        (), "Addresses and networks of that proxy, split by commas; from others the header is ignored.", part="gateway"
    )
    login_roles: dict[str, str] = _setting(
        dict,
        "Roles of these people, as `NAME=ROLE,NAME=ROLE`; `*` is the name of all others. Without one they may nothing.",
        part="gateway",
        shown="none",
    )
    login_tenant: str = _setting(
        "default", "The tenant whose jobs these people see; people of OpenID Connect too, by default.", part="gateway"
    )
    price_prompt: float | None = _setting(
        None,
        "What a million tokens of prompts cost, cached ones included: pages tell costs where both prices are set.",
        part="gateway",
        shown="none",
        ge=0,
    )
    price_completion: float | None = _setting(
        None, "What a million tokens of replies cost.", part="gateway", shown="none", ge=0
    )
    price_currency: str = _setting("", "What stands behind a cost, such as EUR.", part="gateway", max_length=12)
    oidc_issuer: str = _setting(
        "", "The OpenID Connect provider where people log in, exactly as it writes itself; empty: none.", part="gateway"
    )
    oidc_client_id: str = _setting("", "Under what the provider knows this gateway.", part="gateway")
    oidc_client_secret: SecretStr = _setting(
        SecretStr(""), "The secret that goes with it; empty: a public client, which PKCE protects.", part="gateway"
    )
    oidc_client_secret_file: Path | None = _setting(
        None, "File that holds this secret, in place of the variable.", part="gateway", shown="none"
    )
    oidc_scopes: tuple[str, ...] = _setting(
        ("openid", "email", "profile"), "Scopes to ask the provider for, split by commas.", part="gateway"
    )
    oidc_name_claim: str = _setting(
        "email", "The claim that names a person here; where it says nothing, `sub` does.", part="gateway"
    )
    oidc_role_claim: str = _setting(
        "groups", "The claim whose values give roles; `a.b` is `b` within the claim `a`.", part="gateway"
    )
    oidc_roles: dict[str, str] = _setting(
        dict,
        "Roles by a value of that claim, as `VALUE=ROLE,VALUE=ROLE` or as a JSON object; `*` is every person that the "
        "provider lets in. The highest role counts. Without one a person is refused.",
        part="gateway",
        shown="none",
    )
    oidc_tenant_claim: str = _setting(
        "", "The claim whose values give the tenant; empty: all are of `SHOAL_LOGIN_TENANT`.", part="gateway"
    )
    oidc_tenants: dict[str, str] = _setting(
        dict,
        "Tenants by a value of that claim, written like the roles. A person of none, or of several, is refused.",
        part="gateway",
        shown="none",
    )
    oidc_login_minutes: float = _setting(
        480.0,
        "How long such a login holds. For so long a person whom the provider lets in no more is still let in here.",
        part="gateway",
        unit="min",
        ge=1,
        le=10_080,
    )
    webhooks: bool = _setting(
        True,
        "Whether this gateway sends webhooks and writes the sinks of jobs; it is enough that one of several does.",
        part="gateway",
    )
    sink_dirs: tuple[Path, ...] = _setting(
        lambda above: (above["data_dir"] / "sinks" / OF_TENANT,),
        "Folders on the gateway's machine that jobs may write their records to (`sinks`), split by commas. `{tenant}` "
        "stands for the name of the job's tenant; a folder without it is taken for `FOLDER/{tenant}`.",
        part="gateway",
        shown="`sinks/{tenant}` in the data folder",
    )
    webhook_secret: SecretStr = _setting(
        SecretStr(""),
        "The secret from which those of the tenants are derived, 32 characters or more; after a comma an older one, "
        "which still signs too. Empty: one that the database keeps.",
        part="gateway",
    )
    smtp_url: SecretStr = _setting(
        SecretStr(""),
        "Mail server that hands in letters to people, as `smtp://USER:PASSWORD@HOST:PORT`, with TLS where it offers "
        "that, or `smtps://…`. Empty: no letters are sent.",
        part="gateway",
        secret=True,
    )
    mail_from: str = _setting("", "The address that letters are from.", part="gateway")
    mail_domains: tuple[str, ...] = _setting(
        (), "Domains of the addresses that jobs may send letters to. Empty: any.", part="gateway"
    )
    body_limit_kib: int = _setting(
        1024, "Largest body of one request, other than a batch.", part="gateway", unit="KiB", ge=1
    )
    batch_limit_mib: int = _setting(64, "Largest body of one batch.", part="gateway", unit="MiB", ge=1)
    requests_per_s: float = _setting(
        50.0,
        "Requests that one tenant may make per second on average, at all gateways together; 0: no limit.",
        part="gateway",
        unit="1/s",
        ge=0,
    )
    tenant_queued: int = _setting(
        0,
        "Sessions of one tenant that wait at most before its submissions are refused; 0: no limit.",
        part="gateway",
        ge=0,
    )
    tenant_quotas: dict[str, int] = _setting(
        dict,
        "The same of single tenants, as `NAME=SESSIONS,NAME=SESSIONS`; those not named have `SHOAL_TENANT_QUEUED`.",
        part="gateway",
        shown="none",
    )
    gateway: str = _setting(
        "", "Gateway that the command line talks to; empty: `run` starts a cluster of its own.", part="command line"
    )
    url: str = _setting(
        "",
        "The same for Python programs (`shoal.Client`, `shoal.run`) and the command line; goes before `SHOAL_GATEWAY`.",
        part="Python, command line",
    )
    api_key: SecretStr = _setting(
        SecretStr(""), "API key that the command line and Python programs send.", part="Python, command line"
    )

    # --- what browsers may reach ----------------------------------------------------------------------

    allow_private: bool = _setting(
        False, "Whether browsers may reach private, loopback and link-local addresses.", part="gateway, browsers"
    )
    allow_hosts: tuple[str, ...] = _setting(
        (),
        "Exceptions while `allow_private` is false, split by commas: `HOST`, `HOST:PORT` or `NETWORK/BITS`.",
        part="gateway, browsers",
    )
    refuse_networks: tuple[str, ...] = _setting(
        (),
        "Public networks of the installation itself that browsers may not reach, split by commas, as `NETWORK/BITS`: "
        "those of the nodes under a Kubernetes cluster. A machine's own addresses and their networks need no mention.",
        part="gateway, browsers",
    )

    # --- browsers -------------------------------------------------------------------------------------

    chromium: Path | None = _setting(
        None,
        "The Chromium program.",
        part="browsers",
        shown="looked for: Debian's headless shell, Chromium, Playwright's",
    )
    sandbox: Literal["auto", "on", "off"] = _setting(
        "auto", "Chromium's sandbox; `auto`: on wherever the system allows it.", part="browsers"
    )
    workers: int = _setting(
        lambda: max(1, _usable_cpus() // 2),
        "Browser workers, over the whole cluster; each owns one browser. With `SHOAL_MOST_WORKERS`: the least of them.",
        part="pool",
        shown="half the CPUs of this machine, at least 1",
        ge=1,
        le=100_000,
    )
    slots_per_worker: int = _setting(
        4, "Sessions that run beside each other in one browser.", part="pool, browsers", ge=1, le=100
    )
    browser_max_sessions: int = _setting(1000, "A browser is replaced after so many sessions.", part="browsers", ge=1)
    browser_max_minutes: float = _setting(
        60.0, "A browser is replaced at this age, idle or not.", part="browsers", unit="min", gt=0
    )
    browser_idle_s: float = _setting(
        60.0,
        "A browser that was not used for this long is closed; the next session starts one.",
        part="browsers",
        unit="s",
        gt=0,
    )
    page_max_rss_mib: int = _setting(
        2048,
        "The process of a page that holds more memory than that is ended: the page has crashed, the others go on.",
        part="browsers",
        unit="MiB",
        ge=64,
    )
    browser_max_rss_mib: int = _setting(
        3072, "A browser whose processes hold more memory than this is replaced.", part="browsers", unit="MiB", ge=128
    )
    action_timeout_s: float = _setting(10.0, "Time limit of one action.", part="browsers", unit="s", gt=0)
    navigation_timeout_s: float = _setting(30.0, "Time limit of one navigation.", part="browsers", unit="s", gt=0)
    download_limit_mib: int = _setting(
        100, "Largest file that a session may download.", part="browsers", unit="MiB", ge=1
    )
    download_count: int = _setting(
        100, "How many files one attempt of a session may download.", part="browsers", unit="files", ge=1
    )
    download_total_mib: int = _setting(
        500, "What one attempt of a session may download in all.", part="browsers", unit="MiB", ge=1
    )
    session_traffic_mib: int = _setting(
        4096,
        "What the pages of one attempt of a session may take in over the network in all, packed as it comes. It holds "
        "where `SHOAL_ALLOW_PRIVATE` is off.",
        part="browsers",
        unit="MiB",
        ge=1,
    )
    session_timeout_s: float = _setting(
        900.0, "Time limit of one attempt of one session.", part="browsers", unit="s", gt=0
    )
    upload_dirs: tuple[Path, ...] = _setting(
        lambda above: (above["data_dir"] / "uploads" / OF_TENANT,),
        "Folders on the workers whose files jobs may upload to pages, split by commas. `{tenant}` stands for the name "
        "of the job's tenant; a folder without it is taken for `FOLDER/{tenant}`.",
        part="browsers",
        shown="`uploads/{tenant}` in the data folder",
    )
    search_url: str = _setting(
        "", "The search engine of the `search` action, with `{query}` in it; empty: none.", part="browsers"
    )
    help_url: str = _setting(
        "",
        "Address of a gateway as workers reach it, where sessions ask people; empty: only `shoal up` has that.",
        part="browsers, gateway",
    )
    help_token: SecretStr = _setting(
        SecretStr(""), "What workers show there; the same for gateways and workers.", part="browsers, gateway"
    )
    live_url: str = _setting(
        "",
        "Address of this very gateway as workers reach it, where they show sessions that people look at; empty: "
        "`SHOAL_HELP_URL`. Where several gateways stand behind that, each needs its own.",
        part="gateway",
    )
    allow_python: bool = _setting(False, "Whether the `python` action exists.", part="browsers")
    secrets_dir: Path = _setting(
        _in_data_dir("secrets"),
        "Folder of the secrets that jobs may name: `TENANT/NAME`, one file each, and beside it `NAME.domains`, "
        "the host names where it may be filled in, one a line. A gateway that can write there sets secrets.",
        part="browsers, gateway",
        shown="`secrets` in the data folder",
    )

    # --- dispatch -------------------------------------------------------------------------------------

    lease_s: float = _setting(
        60.0, "A session whose worker is silent for this long goes to another.", part="dispatcher", unit="s", ge=1
    )
    max_attempts: int = _setting(
        10, "Attempts of one session at most, whatever the job asks for.", part="gateway", ge=1, le=100
    )
    per_domain: int = _setting(
        8, "Sessions on one domain at once at most; a job may ask for fewer.", part="dispatcher", ge=1
    )

    dispatcher: str = _setting(
        "main",
        "Name of the dispatcher that `shoal supervise` looks after, with workers of its own; "
        "a supervisor with another name runs a second one beside it.",
        part="dispatcher",
        pattern="^[a-z0-9][a-z0-9-]{0,39}$",
    )
    most_workers: int = _setting(
        0,
        "Browser workers at most: their number follows the backlog from `SHOAL_WORKERS` up to this; 0: it is fixed.",
        part="dispatcher",
        ge=0,
    )
    tenant_weights: dict[str, float] = _setting(
        dict,
        "Shares of the browser slots by tenant, as `NAME=WEIGHT,NAME=WEIGHT`; those not named have 1.",
        part="dispatcher",
        shown="none",
    )
    tenant_share: float = _setting(
        1.0,
        "The part of a dispatcher's browser slots that one tenant's sessions may hold at once, though others are free; "
        "at least one slot.",
        part="dispatcher",
        gt=0,
        le=1,
    )

    # --- Ray ------------------------------------------------------------------------------------------

    ray_address: str = _setting(
        "",
        "The Ray cluster that `shoal supervise` looks after: `ray://HOST:10001`, or `auto` on one of its nodes.",
        part="supervisor",
    )
    ray_namespace: str = _setting("shoal", "Ray namespace of all actors.", part="cluster", min_length=1)
    ray_object_store_mib: int = _setting(
        128, "Shared memory of the embedded Ray; artifacts do not pass through it.", part="cluster", unit="MiB", ge=80
    )

    # --- model ----------------------------------------------------------------------------------------

    model_url: str = _setting(
        "",
        "OpenAI-compatible servers of one model, with their `/v1`, split by commas; empty: rules alone decide.",
        part="model",
    )
    model: str = _setting(
        "", "Name under which that server serves the model; needed with `SHOAL_MODEL_URL`.", part="model"
    )
    model_api_key: SecretStr = _setting(SecretStr(""), "API key of the model server.", part="model")
    model_timeout_s: float = _setting(
        60.0, "Time limit of one model call; a slow model may need an hour.", part="model", unit="s", ge=1, le=3600
    )
    model_patience_s: float = _setting(
        120.0,
        "How long a session waits, on its slot, for a model server that is away, before it is tried again elsewhere.",
        part="model",
        unit="s",
        ge=0,
        le=3600,
    )
    model_connections: int = _setting(
        64, "Requests that one browser worker has at one model server at most.", part="model", ge=1, le=10_000
    )
    model_images: bool = _setting(
        True, "Whether the model reads pictures; false for one that reads text only.", part="model"
    )
    model_image_tokens: int = _setting(
        1280,
        "Largest image that the model is shown. Larger screenshots are scaled down.",
        part="model, model server",
        unit="tokens",
        ge=16,
        le=16_384,
    )
    model_image_grid: int = _setting(
        32,
        "Side of one image token, patch times merge: 32 for Qwen3-VL, 28 for Qwen2.5-VL.",
        part="model, model server",
        unit="pixels",
        ge=8,
        le=128,
    )
    model_points: Literal["auto", "pixels", "relative"] = _setting(
        "auto",
        "What the model counts in where a job has it point (`grounding: coordinates`): pixels of the picture, or "
        "thousandths of its width and height; `auto`: thousandths for a model named Qwen3-VL, else pixels.",
        part="model",
    )
    model_admission: bool = _setting(
        True,
        "Whether sessions wait for the model server's queue; servers without vLLM's metrics are never waited for.",
        part="dispatcher",
    )
    model_sessions: int = _setting(
        1000, "Sessions that one model server may serve beside each other at most.", part="dispatcher", ge=1
    )
    model_max_tokens: int = _setting(
        8192,
        "Longest reply that is asked for; each decision has its own limit below, from 512 for a check to 8,192 for a "
        "reading.",
        part="model",
        unit="tokens",
        ge=16,
    )
    model_token_limit_field: Literal["max_tokens", "max_completion_tokens"] = _setting(
        "max_tokens", "How a request names that limit; some hosted models take only the second.", part="model"
    )
    model_temperature: float | None = _setting(
        None,
        "Temperature of every request; some hosted models take only 1.",
        part="model",
        shown="0",
        ge=0,
        le=2,
    )
    model_extra_body: dict[str, Any] = _setting(
        dict,
        'JSON object that is added to every request, e.g. `{"chat_template_kwargs": {"enable_thinking": false}}`.',
        part="model",
        shown="none",
    )
    model_structured: Literal["auto", "json_schema", "off"] = _setting(
        "auto", "How replies are held to their schema; `auto`: the strongest that the server takes.", part="model"
    )

    # --- the model server that `shoal inference` runs --------------------------------------------------

    vllm_program: str = _setting("vllm", "The command that `serve` is given to.", part="model server", min_length=1)
    vllm_model: str = _setting(
        "Qwen/Qwen3-VL-8B-Instruct-FP8",
        "The model: a name on the model hub, or a folder. The default fits one GPU of 24 GB (docs/models/models.md).",
        part="model server",
        min_length=1,
    )
    vllm_host: str = _setting("127.0.0.1", "Address that it listens on.", part="model server")
    vllm_port: int = _setting(8000, "Port that it listens on.", part="model server", ge=1, le=65_535)
    vllm_ready_s: float = _setting(1800.0, "Time it may take to start.", part="model server", unit="s", gt=0)
    vllm_context_tokens: int = _setting(
        32_768, "Prompt and reply of one request together.", part="model server", unit="tokens", ge=2048
    )
    vllm_sequences: int = _setting(
        0, "Requests that it works at beside each other; 0: as the card and the model allow.", part="model server", ge=0
    )
    vllm_api_servers: int = _setting(
        lambda: min(4, max(1, _usable_cpus() // 4)),
        "Processes that read requests and pictures: one spends 0.11 s of a core on a step with a picture.",
        part="model server",
        shown="one for every four CPUs of this machine, 1 to 4",
        ge=1,
    )
    vllm_kv_cache: Literal["auto", "fp8"] = _setting(
        "auto", "Numbers of the KV cache; `fp8` holds twice as many sessions.", part="model server"
    )
    vllm_memory_share: float = _setting(
        0.9, "Share of the GPU's memory that it takes.", part="model server", gt=0, le=1
    )
    vllm_images: int = _setting(4, "Images of one request at most.", part="model server", ge=0, le=100)
    vllm_structured: Literal["xgrammar", "guidance"] = _setting(
        "xgrammar", "What holds replies to their schema.", part="model server"
    )
    vllm_quantization: str = _setting("", "Empty: as the model's own configuration says.", part="model server")
    vllm_tensor_parallel: int = _setting(1, "GPUs that share the model.", part="model server", ge=1)
    vllm_arguments: str = _setting("", "More arguments of `vllm serve`, as in a shell.", part="model server")

    # --- checks ---------------------------------------------------------------------------------------

    @field_validator("*", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> object:
        """A list is written with commas, whichever setting it is."""
        if not isinstance(value, str) or get_origin(cls.model_fields[info.field_name or ""].annotation) is not tuple:
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())

    @field_validator("*", mode="after")
    @classmethod
    def _whole_path(cls, value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(cls._whole_path, value))
        return value.expanduser().absolute() if isinstance(value, Path) else value

    @field_validator("upload_dirs", "sink_dirs")
    @classmethod
    def _are_of_tenants(cls, folders: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(folder if OF_TENANT in str(folder) else folder / OF_TENANT for folder in folders)

    @field_validator("allow_hosts", "refuse_networks")
    @classmethod
    def _are_networks(cls, places: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        hosts = info.field_name == "allow_hosts"
        for place in places:
            try:
                if "/" in place or not hosts:
                    ipaddress.ip_network(place)
            except ValueError as err:
                raise ValueError(f"{place!r} is {'neither a host nor a' if hosts else 'no'} network: {err}") from err
        return places

    @field_validator("tenant_weights", mode="before")
    @classmethod
    def _is_weights(cls, value: Any) -> Any:
        weights = _pairs(value, float, "WEIGHT")
        if any(not name or not 0 < weight < _MOST_WEIGHT for name, weight in weights.items()):
            raise ValueError("needs a name and a weight above 0 in each part")
        return weights

    @field_validator("tenant_quotas", mode="before")
    @classmethod
    def _is_quotas(cls, value: Any) -> Any:
        quotas = _pairs(value, int, "SESSIONS")
        if any(not name or sessions < 0 for name, sessions in quotas.items()):
            raise ValueError("needs a name and a number from 0 in each part")
        return quotas

    @field_validator("login_roles", mode="before")
    @classmethod
    def _is_roles(cls, value: Any) -> Any:
        return _pairs(value, str, "ROLE")

    @field_validator("oidc_roles", "oidc_tenants", mode="before")
    @classmethod
    def _is_mapping(cls, value: Any) -> Any:
        """Groups of directories have commas and equals signs in their names, so JSON is read too."""
        if isinstance(value, str) and value.lstrip().startswith("{"):
            return cls._is_json(value)
        return _pairs(value, str, "TEXT")

    @field_validator("model_extra_body", mode="before")
    @classmethod
    def _is_json(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as err:
            raise ValueError(f"must be a JSON object: {err}") from err

    @field_validator("cookie_secret", "webhook_secret")
    @classmethod
    def _is_long(cls, secret: SecretStr) -> SecretStr:
        parts = secret.get_secret_value().split(",")
        if parts != [""] and min(map(len, parts)) < _SECRET_LENGTH:
            raise ValueError(f"must have at least {_SECRET_LENGTH} characters: `openssl rand -hex 32` makes one")
        return secret

    @field_validator(
        "s3_endpoint_url", "s3_public_url", "public_url", "gateway", "url", "help_url", "live_url", "traces_url"
    )
    @classmethod
    def _is_http_url(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("must start with http:// or https:// and name a host")
        return url.rstrip("/")

    @field_validator("model_url")
    @classmethod
    def _are_http_urls(cls, urls: str) -> str:
        return ",".join(cls._is_http_url(url.strip()) for url in urls.split(",") if url.strip())

    @field_validator("artifacts_url")
    @classmethod
    def _is_artifact_place(cls, url: str) -> str:
        scheme = url.partition(":")[0] if re.match(r"[a-z0-9+]+:", url) else ""
        if scheme not in ("", "file", "memory", *BUCKETS):
            raise ValueError(f"must be {PLACES}")
        if scheme in BUCKETS and not urlsplit(url).netloc:
            raise ValueError(f"names no bucket: write {scheme}://BUCKET or {scheme}://BUCKET/PREFIX")
        return url

    @field_validator("store_url")
    @classmethod
    def _is_database(cls, url: str) -> str:
        if re.match(r"(sqlite|postgres(ql)?)(\+\w+)?://", url) is None:
            raise ValueError("must start with sqlite:/// or postgresql://")
        return url

    # --- for the entry points -------------------------------------------------------------------------

    def artifact_options(self) -> ArtifactOptions:
        """Return what `open_artifacts` takes beside `artifacts_url`."""
        return ArtifactOptions(
            s3=S3Options(
                endpoint_url=self.s3_endpoint_url,
                public_url=self.s3_public_url,
                region=self.s3_region,
                addressing=self.s3_addressing,
                encryption=self.s3_encryption,
                kms_key=self.s3_kms_key,
            ),
            spill_dir=self.data_dir / "waiting-uploads" if self.artifact_spill_mib else None,
            spill_bytes=self.artifact_spill_mib * 1024**2,
        )


def load_settings(**overrides: object) -> Settings:
    """The settings of this process: `overrides` first, then the environment, then the defaults.

    Raises:
        BadSetting: naming each unknown or bad setting. Entry points print it and stop.
    """
    faults = _unknown(os.environ)
    try:
        settings = Settings(**overrides)
    except ValidationError as err:
        faults += [_fault(error) for error in err.errors() if error["type"] not in _FOLLOWS_ANOTHER]
    if faults:
        raise BadSetting("; ".join(faults), faults=faults)
    return settings


# A default that is made from a bad setting: that one is reported already.
_FOLLOWS_ANOTHER = ("default_factory_not_called",)


def _pairs(value: Any, number: Callable[[str], float | str], what: str) -> dict[str, Any]:
    """`NAME=NUMBER,NAME=NUMBER` as a mapping; a mapping as it is."""
    if not isinstance(value, str):
        return dict(value)
    try:
        return {name.strip(): number(text) for name, text in (part.split("=") for part in value.split(",") if part)}
    except ValueError as err:
        raise ValueError(f"must be NAME={what},NAME={what}") from err


def _given(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that an environment gives. pydantic-settings takes 0.2 s to import, in each process and command."""
    return {
        field: value
        for name, value in environment.items()
        if name.upper().startswith(PREFIX)
        and (field := name[len(PREFIX) :].lower()) in Settings.model_fields
        and value
        and not _is_service_link(name, value)
    }


def _unknown(environment: Mapping[str, str]) -> list[str]:
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    return [
        f"{name} is not a setting" + _nearest(name.upper(), known)
        for name, value in sorted(environment.items())
        if name.upper().startswith(PREFIX) and name.upper() not in known and not _is_service_link(name, value)
    ]


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else "; docs/settings.md lists them all"


def _fault(error: Any) -> str:
    """One line about one of pydantic's errors; never shows the value of a secret."""
    field = str(error["loc"][0]) if error["loc"] else "settings"
    name = PREFIX + field.upper()
    if error["type"] == "extra_forbidden":
        return f"{field!r} is not a setting" + _nearest(
            name, [PREFIX + known.upper() for known in Settings.model_fields]
        )
    info = Settings.model_fields.get(field)
    extra = info.json_schema_extra if info and isinstance(info.json_schema_extra, dict) else {}
    hidden = extra.get("secret") or (info is not None and info.annotation is SecretStr)
    value = "" if hidden else f"={str(error['input'])!r}"
    reason = str(error["msg"]).removeprefix("Value error, ")
    return f"{name}{value}: {reason[:1].lower() + reason[1:]}"
