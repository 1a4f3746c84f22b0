"""The end of a part that holds the embedded cluster together: the command says so and ends, instead of taking jobs for
nobody.
"""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.embedded import up

pytestmark = pytest.mark.timeout(600)  # Ray has to start


_slow = pytest.mark.skipif(not os.environ.get("TEST_CHAOS"), reason="the same look at another part: make test-chaos")


@pytest.mark.parametrize("part", ["raylet", pytest.param("gcs_server", marks=_slow)])
def test_a_cluster_whose_ray_ends_says_so_and_ends_with_it(part: str) -> None:
    with up() as cluster:
        (victim,) = [one for one in cluster.tree() if one.name() == part]
        victim.send_signal(signal.SIGKILL)
        try:
            code = cluster.process.wait(120)
        except subprocess.TimeoutExpired:
            pytest.fail(f"it goes on without {part}\n{cluster.log.read_text()[-3000:]}")
        said = cluster.log.read_text()
        assert code == 3, said
        assert part in said.splitlines()[-1], said
