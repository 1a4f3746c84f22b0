"""Measuring: suites of episodes, run over the cluster, checked, judged, reported beside an earlier run."""
