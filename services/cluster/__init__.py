"""The embedded cluster: Ray, dispatcher, workers and gateway on this machine, started and stopped as one."""
