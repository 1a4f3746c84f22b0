# Shared by the scripts beside it; sourced, not run. Leaves the caller in the repository's root.
# shellcheck shell=sh

set -eu
cd "$(dirname "$0")/.."

PYTHON_IN_VENV=.venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1 UV_NO_PROGRESS=1
# Where it is set, as in many images, each Python that a test starts compiles all that it imports: 8 s of CPU.
unset PYTHONDONTWRITEBYTECODE

say() { printf '%s\n' "$*"; }

warn() { printf '%s\n' "$*" >&2; }

# Says why set-up cannot go on, each argument a line, and stops with the exit code for a lacking environment.
die() {
    printf '%s\n' "$@" >&2
    exit 3
}

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: directly, or by a sudo that asks for nothing; fails where neither is possible.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

# Installs Debian packages where that is possible; else says what apt said and fails, so that the caller can go on or stop.
apt_install() {
    have apt-get || return 1
    as_root true || { warn "No root and no sudo without a password: $* cannot be installed from here"; return 1; }
    say "Installing $* (Debian package)"
    apt_log=$(mktemp)
    # The lists may be missing or too old for the server: then once more with fresh ones.
    if _apt_get install -y --no-install-recommends "$@" || { _apt_get update \
        && _apt_get install -y --no-install-recommends "$@"; }; then
        rm -f "$apt_log"
        return 0
    fi
    tail -n 3 "$apt_log" >&2
    rm -f "$apt_log"
    return 1
}

_apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 "$@" \
        </dev/null >"$apt_log" 2>&1
}

# Runs a command up to three times with growing pauses: package servers have slow moments.
persistently() {
    for pause in 5 20 0; do
        "$@" && return 0
        [ "$pause" = 0 ] || { warn "That failed; trying again in $pause s"; sleep "$pause"; }
    done
    return 1
}

# Lets the Ray of what is started from here tell metrics, by the packages that the images have (the extra `cluster`) and
# .venv has not. On one machine nothing asks Ray for anything, and with them its processes start more slowly.
ray_tells_metrics() {
    ray_packages=$PWD/.venv-deploy/cluster
    _pinned requirements.lock >.venv/.pinned
    beyond=$(_pinned deploy/docker/requirements.lock | comm -13 .venv/.pinned -)
    if [ "$(cat "$ray_packages/.installed" 2>/dev/null || true)" != "$beyond" ]; then
        rm -rf "$ray_packages"
        # shellcheck disable=SC2086
        persistently .venv/bin/uv --system-certs pip install --quiet --python "$PYTHON_IN_VENV" \
            --target "$ray_packages" --no-deps $beyond \
            || die "The packages that Ray's metrics need could not be installed; the lines above say why."
        printf '%s' "$beyond" >"$ray_packages/.installed"
    fi
    export PYTHONPATH="$ray_packages${PYTHONPATH:+:$PYTHONPATH}"
}

_pinned() { sed -n 's/^\([a-z0-9._-]*\)[^=]*==\([^ ;]*\).*/\1==\2/p' "$1" | sort; }
