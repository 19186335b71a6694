"""Packages as a Kunlun image holds them, made up below a folder that is put on PYTHONPATH."""

import json
from pathlib import Path

COMMIT = "46b8c74" + "0" * 33


def installed(
    site: Path, name: str, version: str, *, points: str = "", files: tuple[str, ...] = ()
) -> Path:
    """Write a distribution's metadata; return its folder of metadata."""
    module = name.replace("-", "_")
    found = site / f"{module}-{version}.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (found / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    if points:
        (found / "entry_points.txt").write_text(points)
    return found


def kunlun_site(folder: Path) -> Path:
    """Lay out torch_xmlir, kernel packages, SGLang and its plugin as an editable checkout."""
    site = folder / "site"
    (site / "torch_xmlir").mkdir(parents=True)
    (site / "torch_xmlir/__init__.py").write_text(
        "from collections import OrderedDict\n"
        "__version__ = OrderedDict(XPYTORCH='XMLIR--bc1b1dc6f', XRE='5.19.0.0', "
        "XCCL='20260209_9', compile_date='20260324')\n"
    )
    (site / "torch_xmlir/_versions.txt").write_text("XRE: 5.19.0.0\nXCCL: 20260209_9\n")
    (site / "kunlun_ops").mkdir()
    (site / "kunlun_ops/libxops_blocks.so").write_bytes(b"kernels")
    installed(site, "kunlun_ops", "0.1.205+223cef9e", files=("kunlun_ops/libxops_blocks.so",))
    (site / "sglang").mkdir()
    (site / "sglang/__init__.py").write_text("")
    installed(site, "sglang", "0.5.17")
    checkout = folder / "checkout"
    (checkout / ".git/refs/heads").mkdir(parents=True)
    (checkout / ".git/HEAD").write_text("ref: refs/heads/v0.5.17-dev\n")
    (checkout / ".git/packed-refs").write_text(f"# packed\n{COMMIT} refs/heads/v0.5.17-dev\n")
    (checkout / "sglang_kunlun.py").write_text("def activate(): ...\n")
    plugin = installed(
        site,
        "sglang-kunlun",
        "0.1.0",
        points="[sglang.srt.platforms]\nkunlun = sglang_kunlun:activate\n"
        "[sglang.srt.plugins]\nkunlun_hooks = sglang_kunlun:register\n",
    )
    told = {"url": f"file://{checkout}", "dir_info": {"editable": True}}
    (plugin / "direct_url.json").write_text(json.dumps(told))
    return site
