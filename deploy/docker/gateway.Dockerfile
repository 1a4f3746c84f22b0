# syntax=docker/dockerfile:1
# Gateway, migration, helm tests: Shoal without a browser. From the repository's root:
#   docker build -f deploy/docker/gateway.Dockerfile -t shoal/gateway:0.1.0 .
# Pin the base for a release: --build-arg PYTHON_IMAGE=python:3.12-slim-bookworm@sha256:…
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 SOURCE_DATE_EPOCH=0
RUN python -m venv /opt/shoal
COPY deploy/docker/requirements.lock /tmp/requirements.lock
# Versions and hashes of everything: nothing else can get in. Wheels only, so that nothing is compiled; the one package that
# has none is plain Python.
RUN /opt/shoal/bin/pip install --require-hashes --only-binary=:all: --no-binary=jstyleson \
    --requirement /tmp/requirements.lock
COPY pyproject.toml README.md LICENSE /src/
COPY agent /src/agent
COPY prompts /src/prompts
COPY services /src/services
# The one tool that building needs stays in this stage.
RUN python -m pip install "setuptools==84.2.1" "wheel==0.48.0" \
    && python -m pip wheel --no-deps --no-build-isolation --wheel-dir=/tmp/wheels /src \
    && /opt/shoal/bin/pip install --no-deps --no-index /tmp/wheels/*.whl \
    && /opt/shoal/bin/pip uninstall --yes pip

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="shoal-gateway" \
      org.opencontainers.image.description="Shoal: gateway, dashboard, migration" \
      org.opencontainers.image.licenses="Apache-2.0"
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
COPY --from=packages /opt/shoal /opt/shoal
ENV PATH=/opt/shoal/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 SHOAL_DATA_DIR=/var/lib/shoal
RUN install -d -o 10001 -g 0 -m 0770 /var/lib/shoal
USER 10001:10001
WORKDIR /tmp
EXPOSE 8700
ENTRYPOINT ["/usr/bin/tini", "--", "shoal"]
CMD ["gateway"]
