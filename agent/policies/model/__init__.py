"""The model policy: a model decides, held to schemas; the rules that code can keep are kept in code."""

from agent.policies.model.policy import ModelPolicy, ModelPolicyOptions

__all__ = ["ModelPolicy", "ModelPolicyOptions"]
