# syntax=docker/dockerfile:1
# All pods of Ray, and the supervisor: Shoal with Ray, Chromium and fonts. From the repository's root:
#   docker build -f deploy/docker/worker.Dockerfile -t shoal/worker:0.1.0 .
# `make images` builds both; `make pin-images` writes the base's digest and the day of Debian's packages into both files.
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 SOURCE_DATE_EPOCH=0
RUN python -m venv /opt/shoal
COPY deploy/docker/requirements.lock /tmp/requirements.lock
# Versions and hashes of everything: nothing else can get in. Wheels only, so that nothing is compiled; the one package that
# has none is plain Python.
RUN /opt/shoal/bin/pip install --no-compile --require-hashes --only-binary=:all: --no-binary=jstyleson \
    --requirement /tmp/requirements.lock
COPY pyproject.toml README.md LICENSE THIRD-PARTY-LICENSES /src/
COPY agent /src/agent
COPY prompts /src/prompts
COPY services /src/services
COPY shoal /src/shoal
# The one tool that building needs stays in this stage.
RUN python -m pip install "setuptools==84.2.1" "wheel==0.48.0" \
    && python -m pip wheel --no-deps --no-build-isolation --wheel-dir=/tmp/wheels /src \
    && /opt/shoal/bin/pip install --no-compile --no-deps --no-index /tmp/wheels/*.whl \
    && /opt/shoal/bin/pip uninstall --yes pip \
    && find /opt/shoal -name __pycache__ -prune -exec rm -rf {} + \
    && python -m compileall -q --invalidation-mode unchecked-hash /opt/shoal/lib

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="shoal-worker" \
      org.opencontainers.image.description="Shoal: Ray nodes with Chromium" \
      org.opencontainers.image.licenses="Apache-2.0"
# The browser is pinned: pages are read by it, and a new one is a change to be tested. Headless shell alone: a third of the
# memory of the whole browser. Fonts: without them pages in Chinese, Japanese, Korean, or with emoji are boxes.
# KubeRay's probes call wget.
ARG CHROMIUM_VERSION=156.0.8078.79-1~deb12u1
# Debian's packages of one moment: each source of the base names, in the comment before its address, where Debian keeps all
# its past; the moment below replaces the comment's own. Empty: the newest packages.
ARG DEBIAN_SNAPSHOT=20261122T000000Z
RUN if [ -n "${DEBIAN_SNAPSHOT}" ]; then \
        sed --in-place "s|^# \(http.*/\)[0-9TZ]*\$|URIs: \1${DEBIAN_SNAPSHOT}|; t; /^URIs:/d" \
            /etc/apt/sources.list.d/debian.sources \
        && grep --quiet "^URIs: .*/${DEBIAN_SNAPSHOT}\$" /etc/apt/sources.list.d/debian.sources; \
    fi
# hadolint ignore=DL3008
RUN apt-get --option Acquire::Check-Valid-Until=false --option Acquire::Retries=5 update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates "chromium-headless-shell=${CHROMIUM_VERSION}" \
        fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core \
        tini wget \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
COPY --from=packages /opt/shoal /opt/shoal
# Python's packages bring roots and places for them of their own; with this, all take Debian's (libpq by sslrootcert=system).
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENV PATH=/opt/shoal/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 SHOAL_DATA_DIR=/var/lib/shoal
RUN install -d -o 10001 -g 0 -m 0770 /var/lib/shoal
USER 10001:10001
WORKDIR /tmp
ENTRYPOINT ["/usr/bin/tini", "--", "shoal"]
CMD ["supervise"]
