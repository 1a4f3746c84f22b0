"""One cluster for one data folder, however often somebody looks for it."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from shoal.services.cluster.address import LOCK_FILE, running_cluster
from shoal.services.cluster.embedded import _only_one
from shoal.services.errors import ClusterFailed


def test_a_command_that_looks_for_a_cluster_does_not_keep_one_from_starting(tmp_path: Path) -> None:
    """`shoal jobs` holds the lock while it asks who has it; a cluster that started just then was refused."""
    looking = os.open(tmp_path / LOCK_FILE, os.O_CREAT | os.O_RDWR)
    fcntl.flock(looking, fcntl.LOCK_SH)
    done = threading.Timer(0.1, os.close, (looking,))
    done.start()
    with _only_one(tmp_path):
        assert running_cluster(tmp_path) is None, "it has not told its address yet"
    done.join()


def test_a_second_cluster_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with _only_one(tmp_path), pytest.raises(ClusterFailed, match="another Shoal uses"), _only_one(tmp_path):
        pass
    with _only_one(tmp_path):
        pass
