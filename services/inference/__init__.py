"""The model server as part of the cluster: how vLLM is started, watched and fed."""
