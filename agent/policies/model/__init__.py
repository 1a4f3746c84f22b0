"""The model policy: a model decides, held to schemas; the rules that code can keep are kept in code."""

from agent.policies.model.asker import ModelPolicyOptions
from agent.policies.model.policy import ModelPolicy

__all__ = ["ModelPolicy", "ModelPolicyOptions"]
