"""The steps of a job as this host takes them: real environments, servers and clients."""

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from runners import reports
from runners.benchmarks import server as asking
from runners.benchmarks.card_facts import Samples
from runners.benchmarks.card_watch import CardWatch, sampled
from runners.benchmarks.client import Client
from runners.benchmarks.repeat import Bench
from runners.benchmarks.server_facts import ServerFacts, capacity_before, server_facts
from runners.benchmarks.standing_client import StandingClient
from runners.devices.device import Card, Device, DeviceInterfaceError, UnknownChipError, device_for
from runners.launch_checks import (
    Ground,
    card_layers,
    client_release,
    host_layers,
    packages_layer,
    plugin,
    plugin_layer,
    weights,
    without_platform,
)
from runners.launched import (
    ServerAndClient,
    Told,
    end_of,
    kept_without_secrets,
    layers_named,
    require_overlay,
    require_plugin,
    target_of,
    texts_of,
    told_by,
    tools_of,
    variables_of,
)
from runners.preflight.capacity import estimate
from runners.preflight.card_numbers import numbered
from runners.preflight.communication import Heard
from runners.preflight.layers import Check, Found, Works
from runners.preflight.limits import HostLimits
from runners.run_job import LayerBrokenError, Prepared, Stop, Tell
from runners.stacks import container
from runners.stacks import server as servers
from runners.stacks.container import EngineError, ended, pids_of
from runners.stacks.environment import BUILD_ERRORS, Recipe, build
from runners.stacks.host import NotOnHostError
from runners.stacks.measured import ProbeError
from runners.stacks.overlay import OverlayError, with_overlay
from runners.stacks.provision import (
    Provisioned,
    Site,
    device_nodes,
    found_program,
    observed,
    overlay_of,
    provisioned,
    with_absent,
)
from runners.stacks.server_flags import server_flags
from runners.stacks.tiny_model import TinyModelError, made, shape_of
from runners.stacks.wheels import WheelDamagedError, put_together
from service.client import RefusedError
from service.domain.key import content_key, short
from service.domain.layer import Layer
from service.domain.redaction import redacted_text
from service.domain.server_arguments import Arguments, has_other_names, spelled
from service.formats.identities import BuildOrder, ContainerOrder, HostOrder
from service.formats.orders import JobOrder, ModelOrder, Progress

LAUNCHES_KEPT = 20
CPU = "cpu"
LOG_READ_BYTES = reports.LOG_TAIL_BYTES


@dataclass(frozen=True, slots=True)
class HostSteps:
    """The steps on one host. fetch: bytes by digest, from the service. cards: those that are ours.

    registry: where images are taken from, empty for those on the host alone.
    A plugin that was found right in an environment is not looked up again: neither can change.
    """

    host: str
    cache: Path
    cards: Sequence[Card]
    variables: Mapping[str, str]
    fetch: Callable[[str], bytes]
    registry: str = ""
    limits: HostLimits = field(default_factory=HostLimits)
    _plugins: dict[tuple[Path, str], Found] = field(default_factory=dict)
    _heard: dict[Path, Heard] = field(default_factory=dict)
    _client: StandingClient = field(default_factory=StandingClient)

    def prepare(self, order: JobOrder, tell: Tell) -> Prepared:
        """Build the environments of stack and client, and bring the model here."""
        device, limit_s = self._device(order), order.limits.build_s
        folder = self._launch_folder(order)
        there = self._provisioned(order, tell, folder)
        client_python = self._environment(order.client.build, tell, Layer.CLIENT, limit_s=limit_s)
        tell(Progress(phase="build", text="making the model", fraction=None))
        model = self._model(order.model)
        try:
            variables = self._script_variables(order, self._cards(order))
            overlay = overlay_of(
                order.stack,
                there.python,
                self._lock,
                folder=folder,
                variables=variables,
                progress=lambda text, fraction: tell(
                    Progress(phase="build", text=text[:400], fraction=fraction)
                ),
            )
            seen = {**observed(order.stack, there.python, variables, overlay), **device.facts()}
        except (ProbeError, OverlayError, WheelDamagedError, RefusedError) as error:
            container.end(there.contained)
            remedy = getattr(error, "remedy", "")
            raise LayerBrokenError(Layer.PACKAGES, str(error), remedy) from error
        cards = numbered(device, self._cards(order), there.python, without_platform(variables))
        return Prepared(
            there.python,
            client_python,
            model,
            folder,
            with_absent(order.stack.stack, seen),
            there.program,
            there.contained,
            cards,
            overlay,
        )

    def _provisioned(self, order: JobOrder, tell: Tell, folder: Path) -> Provisioned:
        """Return the stack's programs: built here, found on the host, or those of an image."""
        ordered, launch = order.stack.build, order.stack.launch
        if ordered is None:
            why = "has no build section that a runner can follow"
            finding = f"stack {order.stack.stack.name} {why}"
            raise LayerBrokenError(Layer.PACKAGES, finding, "measure it on a host that has it")
        try:
            if isinstance(ordered, HostOrder | ContainerOrder):
                tell(Progress(phase="build", text=f"looking for the {ordered.kind}'s programs"))
                return provisioned(ordered, launch, self._site(order, folder))
            limit_s = order.limits.build_s
            python = self._environment(ordered, tell, Layer.PACKAGES, limit_s=limit_s)
            return Provisioned(python, found_program(launch, python, self.variables))
        except NotOnHostError as error:
            raise LayerBrokenError(Layer.PACKAGES, str(error)) from error
        except EngineError as error:
            remedy = "check the container engine, the runner's registry and the image's digest"
            raise LayerBrokenError(Layer.RUNTIME, str(error), remedy) from error

    def _site(self, order: JobOrder, folder: Path) -> Site:
        nodes = device_nodes(order.stack.chip, self._cards(order))
        name = str(reports.launch_id_of(order))
        models = Path(order.model.path) if order.model.path else self.cache
        return Site(name, self.registry, nodes, folder, (models,), self.variables, self.cache)

    def checks(self, order: JobOrder, prepared: Prepared) -> Sequence[Check]:
        """Return the checks from the metal up to the weights."""
        ground = self._ground(order, prepared)
        every = (
            *host_layers(ground),
            packages_layer(ground),
            Check(Layer.CLIENT, lambda _: client_release(prepared, order.client.version)),
            *card_layers(ground),
            plugin_layer(ground, known=lambda limit_s: self._plugin(ground, limit_s)),
            Check(
                Layer.WEIGHTS,
                lambda _: weights(prepared.model, order.model),
                # Whatever the checks left behind that was killed with its container still there.
                end=partial(container.end, prepared.contained),
            ),
        )
        return self.limits.given(every)

    def _ground(self, order: JobOrder, prepared: Prepared) -> Ground:
        held = self._held(prepared)
        return Ground(
            stack=order.stack.stack,
            device=self._device(order),
            held=held,
            asked=order.launch.cards,
            python=prepared.python,
            variables=with_overlay(
                self._script_variables(order, held[: order.launch.cards]), prepared.overlay
            ),
            platform=order.stack.build.platform
            if isinstance(order.stack.build, BuildOrder)
            else None,
            observed=prepared.observed,
            needed_bytes=self._bytes_needed(order, prepared),
            heard=self._heard.setdefault(prepared.folder, Heard()),
            limits=self.limits,
        )

    @contextmanager
    def launched(
        self, order: JobOrder, prepared: Prepared, tell: Tell, stop: Stop
    ) -> Iterator[ServerAndClient]:
        """Bring client and server up; the client stands by for the next launch."""
        launch = self._launch(order, prepared)
        before = sampled(self._device(order).samples)
        with (
            kept_without_secrets(prepared.folder),
            layers_named(stop),
            ended(prepared.contained),
            self._client.taken(
                prepared.client_python,
                tools_of(order),
                prepared.folder,
                variables=self.variables,
                ready=partial(Client.wait_ready, limit_s=order.limits.start_s, stopped=stop.given),
            ) as client,
            servers.serving(
                launch,
                inherited=self.variables,
                start_limit_s=order.limits.start_s,
                stop_limit_s=order.limits.stop_s,
                progress=lambda text, fraction: tell(
                    Progress(phase="start", text=text, fraction=fraction)
                ),
            ) as server,
            asking.asked(server.base_url, limit_s=order.limits.repeat_s) as asked,
        ):
            require_overlay(prepared, server.pid, variables=launch.variables)
            require_plugin(server.log, stack=order.stack.stack, expects=order.stack.launch.expects)
            inherited = servers.inherited(launch, self.variables)
            told = told_by(asked, server.log, inherited=inherited)
            bench = Bench(
                client=client,
                server=asked,
                target=target_of(server, prepared.model),
                server_log=server.log,
                folder=prepared.folder,
                environment=client.environment,
                limit_s=order.limits.repeat_s,
                cards=self._watch(order, partial(pids_of, server.pid, prepared.contained), before),
                settled=self._settled(order, told),
                has_metrics=told.has_metrics,
            )
            kept = texts_of(order, prepared, told, self._heard.pop(prepared.folder, Heard()))
            yield ServerAndClient(server, bench, told, kept)

    def _watch(
        self, order: JobOrder, pids: Callable[[], Collection[int]], before: Samples | None
    ) -> CardWatch:
        return CardWatch(
            self._device(order).samples,
            leased=[card.number for card in self._cards(order)],
            before=before,
            server_pids=pids,
        )

    def _settled(self, order: JobOrder, told: Told) -> ServerFacts:
        """Return what the gates ask of the server, its capacity in the session's other launches."""
        facts = server_facts(told.resolution)
        launch = order.launch.model_dump(mode="json", exclude={"cells"})
        name = content_key({"session": str(order.session_id), "launch": launch})
        before = capacity_before(self.cache / "capacities", name, facts.kv_capacity)
        return replace(facts, kv_capacity_before=before)

    def _launch(self, order: JobOrder, prepared: Prepared) -> servers.Launch:
        """Return what starts the server of an order on its own cards."""
        return servers.Launch(
            python=prepared.python,
            model=prepared.model,
            served_name=order.model.id,
            arguments=self._arguments(order, prepared),
            variables=servers.on_cards(
                variables_of(order, prepared),
                self._device(order).environment(self._held(prepared)[: order.launch.cards]),
            ),
            log=prepared.folder / "server.log",
            program=prepared.program,
        )

    def _arguments(self, order: JobOrder, prepared: Prepared) -> Arguments:
        """Return the server's arguments as its release calls them; most never had another name."""
        arguments = order.launch.server_arguments
        if not has_other_names(arguments):
            return arguments
        try:
            # Only an environment that we built never changes below what it told once.
            ours = isinstance(order.stack.build, BuildOrder)
            cache = self.cache if ours else prepared.folder
            told = server_flags(prepared.python, cache=cache, variables=self.variables)
        except ProbeError:
            return arguments  # the server's own complaint says more than a probe's
        return spelled(arguments, {word for flag in told.flags for word in flag.spellings})

    def let_go(self, idle_s: float) -> None:
        """End the client where no launch took it for so long."""
        self._client.end_where_idle(idle_s)

    def server_log(self, prepared: Prepared) -> bytes:
        """Return the end of what the server wrote; nothing where it was never started."""
        return end_of(prepared.folder / "server.log", LOG_READ_BYTES)

    def _device(self, order: JobOrder) -> Device:
        try:
            return device_for(order.stack.chip)
        except (UnknownChipError, DeviceInterfaceError) as error:
            raise LayerBrokenError(Layer.DEVICE, str(error)) from error

    def _cards(self, order: JobOrder) -> Sequence[Card]:
        return self.cards[: order.launch.cards]

    def _held(self, prepared: Prepared) -> Sequence[Card]:
        """Return our cards, those of the launch with their numbers inside torch."""
        return (*prepared.cards, *self.cards[len(prepared.cards) :])

    def _environment(
        self, ordered: BuildOrder, tell: Tell, layer: Layer, *, limit_s: float
    ) -> Path:
        deadline = time.monotonic() + limit_s

        def progress(text: str, fraction: float | None) -> None:
            if time.monotonic() > deadline:
                finding = f"not built within {limit_s:.0f} s; the last step was: {text}"
                raise LayerBrokenError(
                    layer, finding, "allow more for build_s in the plan's limits"
                )
            tell(Progress(phase="build", text=redacted_text(text)[:400], fraction=fraction))

        try:
            wheels = {each.file: put_together(each, self._lock) for each in ordered.wheels}
            recipe = Recipe(self._lock(ordered.lock), ordered.torch, ordered.platform, wheels)
            built = build(recipe, cache=self.cache, variables=self.variables, progress=progress)
        except (*BUILD_ERRORS, WheelDamagedError) as error:
            remedy = "read the build's log; it is built anew on the next attempt"
            raise LayerBrokenError(layer, str(error), remedy) from error
        except RefusedError as error:
            finding = f"the service does not hand out the lock {short(ordered.lock)}: {error}"
            raise LayerBrokenError(layer, finding, "submit the plan again") from error
        return built.python

    def _lock(self, digest: str) -> bytes:
        """Return a lock's bytes, asked of the service once and kept here under their digest."""
        kept = self.cache / "locks" / digest
        if kept.is_file() and sha256(content := kept.read_bytes()).hexdigest() == digest:
            return content
        content = self.fetch(digest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        half = kept.with_suffix(f".{os.getpid()}")
        half.write_bytes(content)
        half.rename(kept)
        return content

    def _plugin(self, ground: Ground, limit_s: float) -> Found:
        key = (ground.python, ground.stack.key)
        known = self._plugins.get(key)
        if known is None:
            known = plugin(ground, limit_s)
            if isinstance(known, Works) and ground.platform is not None:
                self._plugins[key] = known
        return known

    def _model(self, ordered: ModelOrder) -> Path:
        if ordered.path is not None:
            return Path(ordered.path)
        try:
            return made(shape_of(ordered.maker or {}), cache=self.cache)
        except TinyModelError as error:
            raise LayerBrokenError(Layer.WEIGHTS, f"model {ordered.id}: {error}") from error

    def _launch_folder(self, order: JobOrder) -> Path:
        """Make the folder of this launch, and drop those of launches long over."""
        launches = self.cache / "launches"
        folder = launches / str(reports.launch_id_of(order))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        every = sorted(launches.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in every[LAUNCHES_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        return folder

    def _script_variables(self, order: JobOrder, cards: Sequence[Card]) -> Mapping[str, str]:
        passed_on = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
        own = {name: self.variables[name] for name in passed_on if name in self.variables}
        chosen = self._device(order).environment(cards) if cards else {}
        return {**own, **chosen, **order.launch.server_environment}

    def _bytes_needed(self, order: JobOrder, prepared: Prepared) -> int:
        """Return what a card must have free; the cores of a CPU share one memory."""
        ranks = order.launch.cards
        conditions = [order.condition_of(cell) for cell in order.launch.cells]
        share = estimate(prepared.model, conditions, cards=ranks).needed_bytes
        return share * ranks if order.stack.chip == CPU else share
