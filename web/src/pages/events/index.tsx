// Changes: what the screen saw in the stored history, one event a cause, the newest first.

import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Heading } from "../../parts/fields";
import { Events } from "../../parts/events";
import { changedAddress, usePlace } from "../../route";
import { t } from "../../words";

const LIMIT = 100;

export default function EventsPage() {
  const { query } = usePlace();
  const cursor = query.get("cursor");
  const asked = useAnswer("/api/v1/events", {}, { host: query.get("host"), cursor, limit: LIMIT });
  return (
    <>
      <Heading title={t("nav.events")} sub={t("events.sub")} />
      <Shown of={asked} lines={10}>
        {(page) =>
          page.events.length === 0 ? (
            <Empty command="kunline schedule set smoke --at 02:00 --why nightly">{t("events.none")}</Empty>
          ) : (
            <>
              <Events of={page.events} />
              {page.cursor && (
                <p class="more">
                  <a href={changedAddress({ cursor: page.cursor })}>{t("events.older")}</a>
                </p>
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}
