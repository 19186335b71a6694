// A run: what was held constant, what was tested, what was seen, and whether the number is to be
// trusted.

import type { Schemas } from "../../api/client";
import { type Asked, useAnswer } from "../../api/use";
import { Problem, Shown, Skeleton } from "../../parts/asked";
import { Facts, Heading, Key, Section } from "../../parts/fields";
import { State } from "../../parts/outcome";
import { address } from "../../route";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { Cards } from "./cards";
import { Decision } from "./decision";
import { Logs } from "./logs";
import { Components, Condition, Findings, Preflight, Repeats, Settled } from "./tables";

type Detail = Schemas["RunDetail"];

export default function RunPage({ id }: { id: string }) {
  const asked = useAnswer("/api/v1/runs/{run_id}", { run_id: id });
  const run = asked.value?.run;
  return (
    <>
      <Heading title={run?.title ?? t("kind.run")} sub={asked.value && <Trust of={asked.value} />}>
        {run && (
          <a class="button" href={address("/series", { condition: run.condition_key, protocol: run.protocol_key })}>
            {t("run.series")}
          </a>
        )}
      </Heading>
      <Shown of={asked} lines={24}>
        {(detail) => <Whole of={detail} again={asked.again} />}
      </Shown>
    </>
  );
}

function Whole({ of, again }: { of: Detail; again: () => void }) {
  const { run } = of;
  const launch = useAnswer("/api/v1/launches/{launch_id}", run.imported ? null : { launch_id: run.launch_id });
  const logs = [...of.artefacts, ...(launch.value?.artefacts ?? [])];
  return (
    <>
      <Facts
        of={[
          [t("field.state"), <Marks of={of} />],
          [t("field.stack"), <a href={address("/matrix", { stack: run.stack_key })}>{run.stack_name}</a>],
          [t("field.host"), <a href={address("/runs", { host: run.host })}>{run.host}</a>],
          [t("field.measured_at"), <Moment at={run.measured_at} />],
          [t("field.session"), run.session_id ? <a href={`/queue/${run.session_id}`}>{run.session_id.slice(0, 8)}</a> : "–"],
          [t("field.run"), <Key of={run.id} />],
        ]}
      />
      {of.broken && (
        <div class="problem" role="note">
          <p>
            <strong>{t("run.broken_at", { layer: of.broken.layer })}</strong> <span lang="en">{of.broken.finding}</span>
          </p>
          {of.broken.remedy && <p lang="en">{of.broken.remedy}</p>}
        </div>
      )}
      {of.withdrawal && (
        <p class="notice">
          {t("run.withdrawn", { who: of.withdrawal.withdrawn_by, reason: of.withdrawal.reason })} <Moment at={of.withdrawal.withdrawn_at} />
        </p>
      )}
      <Section title={t("run.findings")}>
        <Findings of={of} />
      </Section>
      <Section title={t("run.repeats")}>
        <Repeats of={of} />
      </Section>
      <Section title={t("run.stack")}>
        <Stack of={of} launch={launch} />
      </Section>
      <Section title={t("run.settled")}>
        <Settled of={of.resolution} />
      </Section>
      <Section title={t("run.preflight")}>
        {launch.problem ? (
          <Problem error={launch.problem} again={launch.again} />
        ) : launch.value ? (
          <Preflight of={launch.value.preflight} />
        ) : run.imported ? (
          <p class="muted">{t("run.no_launch")}</p>
        ) : (
          <Skeleton lines={4} />
        )}
      </Section>
      <Section title={t("run.cards")}>
        <Cards of={logs} />
      </Section>
      <Section title={t("run.condition")}>
        <Condition key_={run.condition_key} protocol={run.protocol_key} />
      </Section>
      <Section title={t("run.logs")}>
        <Logs of={logs} />
      </Section>
      <Section title={t("decision.title")}>
        <Decision of={of} again={again} />
      </Section>
    </>
  );
}

function Stack({ of, launch }: { of: Detail; launch: Asked<Schemas["LaunchRead"]> }) {
  const stack = useAnswer("/api/v1/stacks/{key}", { key: of.run.stack_key });
  // What was observed stands in the same rows.
  const known = of.run.imported || launch.value || launch.problem;
  return (
    <Shown of={known ? stack : { ...stack, value: undefined }} lines={5}>
      {(value) => <Components of={value.stack} observed={launch.value?.observed ?? {}} drift={of.drift} />}
    </Shown>
  );
}

/** Say in one line whether this number may be trusted. */
function Trust({ of }: { of: Detail }) {
  const { run, findings } = of;
  const failures = findings.filter(({ severity }) => severity === "failure").length;
  if (run.withdrawn) return <>{t("trust.withdrawn")}</>;
  if (run.state !== "measured") return <>{t("trust.no")}</>;
  if (run.drifted) return <>{t("trust.drifted")}</>;
  const unsure = findings.length - failures;
  return <>{unsure ? t("trust.warned", { warnings: unsure }) : t("trust.yes")}</>;
}

function Marks({ of: { run } }: { of: Detail }) {
  return (
    <span class="tags">
      <State of={run.state} />
      {run.drifted && <State of="drifted" />}
      {run.withdrawn && <State of="withdrawn" />}
      {run.imported && <State of="imported" />}
    </span>
  );
}
