"""Declares the operators that torchvision's import asks for, where its own library cannot load.

Imported by a .pth file at every start of the environment's Python, so it imports nothing heavy.
"""

import sys

_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


class _BeforeTorchvision:
    """A finder that finds nothing, and is asked just before torchvision is imported."""

    library = None

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Return None always: the import goes on to the finder that knows where torchvision lies."""
        if name == "torchvision" and cls.library is None:
            import torch

            if torch.version.cuda is None:
                cls.library = torch.library.Library("torchvision", "DEF")
                for operator in _OPERATORS:
                    cls.library.define(operator)


sys.meta_path.insert(0, _BeforeTorchvision)
