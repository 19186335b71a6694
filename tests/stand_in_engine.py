"""A stand-in for docker: it records its words and runs commands as a daemon would, not contained.

What `run` starts is detached from the engine's client, so that killing the client leaves it. Which
device nodes it was given stands in EMULATED_NODES, for an emulated host behind it.
"""

import sys
from pathlib import Path

ENGINE = """\
#!{python}
import hashlib, json, os, signal, subprocess, sys, tarfile
from pathlib import Path

state = Path({state!r})
words = sys.argv[1:]
with (state / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(words) + "\\n")


def living():
    for file in state.glob("*.container"):
        told = json.loads(file.read_text())
        if os.path.exists(f"/proc/{{told['pid']}}"):
            yield file.stem, told


if words[0] == "image":
    known = state / "loaded" / words[-1].removeprefix("sha256:")
    if not (state / "pulled").exists() and not known.exists():
        sys.exit("Error: no such image")
if words[0] == "load":
    # An engine knows what it took by its id: of these, each blob with a root file system.
    (state / "loaded").mkdir(exist_ok=True)
    with tarfile.open(words[-1]) as archive:
        for member in archive:
            content = archive.extractfile(member).read()
            if b"diff_ids" in content:
                (state / "loaded" / hashlib.sha256(content).hexdigest()).touch()
if words[0] == "pull":
    (state / "pulled").touch()
if words[0] == "run":
    labels = [words[at + 1] for at, word in enumerate(words) if word == "--label"]
    names = [words[at + 1] for at, word in enumerate(words) if word == "--env"]
    pairs = [name.partition("=") for name in names]
    variables = {{name: value if sign else os.environ[name] for name, sign, value in pairs}}
    at = next(at for at, word in enumerate(words) if "@sha256:" in word)
    stdin = None if "--interactive" in words else subprocess.DEVNULL
    nodes = [words[at + 1] for at, word in enumerate(words) if word == "--device"]
    variables["EMULATED_NODES"] = ",".join(nodes)
    child = subprocess.Popen(words[at + 1 :], env=variables, stdin=stdin, start_new_session=True)
    file = state / f"c{{child.pid}}.container"
    file.write_text(json.dumps({{"labels": labels, "pid": child.pid}}))
    code = child.wait()
    file.unlink(missing_ok=True)
    sys.exit(code if code >= 0 else 128 - code)
if words[0] == "ps":
    label = words[-1].partition("=")[2]
    print("\\n".join(name for name, told in living() if label in told["labels"]))
if words[0] == "inspect":
    print("\\n".join(str(told["pid"]) for name, told in living() if name in words))
if words[0] in ("stop", "rm"):
    for name, told in list(living()):
        if name in words:
            os.kill(told["pid"], signal.SIGTERM if words[0] == "stop" else signal.SIGKILL)
"""


def stand_in_engine(folder: Path) -> Path:
    """Make a folder with a program called docker in it, and return the folder.

    calls.jsonl there holds the words of every call.
    """
    folder.mkdir()
    program = folder / "docker"
    program.write_text(ENGINE.format(python=sys.executable, state=str(folder)), encoding="utf-8")
    program.chmod(0o755)
    return folder
