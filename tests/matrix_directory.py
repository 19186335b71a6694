"""A small matrix directory for tests: two stacks, two models, three workloads, one plan."""

from pathlib import Path

HASH = "sha256:" + "a" * 64
OTHER_HASH = "sha256:" + "b" * 64

LOCK = f"""# complete
aiohttp==3.14.5 \\
    --hash={HASH} \\
    --hash={OTHER_HASH}
sglang=={{release}} \\
    --hash={HASH}
async_timeout==5.0.1 ; python_version < '3.12' \\
    --hash={HASH}
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash={HASH}
"""

STACK = """name: cpu-{release}
chip: cpu
built_at: {built_at}
build: {{kind: venv, lock: cpu-{release}.lock, torch: 2.13.0, platform: our_platform}}
components:
  - {{name: torch, version: 2.13.0+cpu, layer: packages, scope: process}}
  - {{name: sglang, version: "{release}", layer: server, scope: process}}
  - {{name: python, recorded: true, layer: packages, scope: process}}
  - {{name: driver, version: "5.0", layer: driver, scope: host}}
server:
  arguments: {{sleep-on-idle: true}}
  environment: {{OMP_NUM_THREADS: "1"}}
verified: {{state: verified, note: here}}
"""

FILES = {
    "stacks/cpu-0.5.18.lock": LOCK.format(release="0.5.18"),
    "stacks/cpu-0.5.23.lock": LOCK.format(release="0.5.23"),
    "stacks/cpu-0.5.18.yaml": STACK.format(release="0.5.18", built_at="2026-08-21"),
    "stacks/cpu-0.5.23.yaml": STACK.format(release="0.5.23", built_at="2026-10-30"),
    "stacks/known-only.yaml": """name: known-only
chip: kunlun
built_at: 2026-07-07
components:
  - {name: xre, version: 5.19.0.0, layer: runtime, scope: container}
verified: {state: unverified, note: documented, source: a recipe}
""",
    "models/tiny.yaml": f"""name: tiny
id: made/tiny
maker: {{kind: tiny_llama, seed: 1}}
weights_digest: {"1" * 64}
tokenizer_digest: {"2" * 64}
dtype: bfloat16
server: {{arguments: {{device: cpu, page_size: 16}}}}
start_s: 30
""",
    "models/unstaged.yaml": "name: unstaged\nid: some/model\ndtype: bfloat16\n",
    "workloads/short.yaml": """name: short
load: closed
input_tokens: 128
output_tokens: 32
prompts: 12
prompts_per_concurrency: 8
repeat_s: 5
""",
    "workloads/arrivals.yaml": """name: arrivals
load: open
input_tokens: 256
output_tokens: 16
rate: 4
repeat_s: 5
""",
    "workloads/batch.yaml": """name: batch
load: batch
input_tokens: 64
output_tokens: 8
concurrency: 8
repeat_s: 5
""",
    "clients/client.yaml": """name: client
tool: sglang.bench_serving
version: 0.5.23
build: {kind: venv, lock: ../stacks/cpu-0.5.23.lock, torch: 2.13.0}
""",
    "plans/small.yaml": """name: small
pool: local
cards: {chip: cpu, model: core, form: shared, occupancy: packed}
model: tiny
client: client
stacks: [cpu-0.5.18, cpu-0.5.23]
baseline: cpu-0.5.18
layouts:
  one-card: {}
  two-cards: {tp: 2}
seeds: [7, 8, 9]
cells:
  - workload: short
    concurrency: [1, 4]
    why: The usual thing.
  - workload: arrivals
    layouts: [one-card]
    why: Requests do not wait.
  - workload: batch
    layouts: [one-card]
    why: No arrival pattern.
""",
    "policy.yaml": "tolerances: {ttft_p50: 0.1, tpot_p50: 0.03}\n",
}


def matrix_directory(root: Path, **changed: str) -> Path:
    """Write the files under root, some with other content, and return root.

    changed: content by path, with '__' for '/' and without the suffix: plans__small.
    """
    files = FILES | {f"{name.replace('__', '/')}.yaml": text for name, text in changed.items()}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
