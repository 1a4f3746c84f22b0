"""The model policy: a model decides, held to schemas; the rules that code can keep are kept in code."""

from shoal.agent.policies.model.policy import ModelPolicy
from shoal.agent.policies.model.requests.asker import ModelPolicyOptions

__all__ = ["ModelPolicy", "ModelPolicyOptions"]
