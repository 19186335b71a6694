// The frame and the page in it. Each page is fetched when it is first opened.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, Skeleton } from "./parts/asked";
import { ApiError } from "./api/client";
import { useWhole } from "./api/waited";
import { followLinks, usePlace } from "./route";
import { Frame } from "./shell/frame";
import { language, t } from "./words";

type Page = ComponentType<{ id: string }>;
type Fetched = () => Promise<{ default: Page }>;

const PAGES: [RegExp, Fetched][] = [
  [/^\/$/, () => import("./pages/overview")],
  [/^\/matrix$/, () => import("./pages/matrix")],
  [/^\/series$/, () => import("./pages/series")],
  [/^\/compare$/, () => import("./pages/compare")],
  [/^\/runs$/, () => import("./pages/runs")],
  [/^\/runs\/([0-9a-f-]+)$/, () => import("./pages/run")],
  [/^\/hosts$/, () => import("./pages/hosts")],
  [/^\/queue$/, () => import("./pages/queue")],
  [/^\/queue\/([0-9a-f-]+)$/, () => import("./pages/session")],
  [/^\/incidents$/, () => import("./pages/incidents")],
  [/^\/incidents\/([0-9a-f-]+)$/, () => import("./pages/incident")],
  [/^\/events$/, () => import("./pages/events")],
  [/^\/events\/([0-9a-f-]+)$/, () => import("./pages/event")],
  [/^\/gates$/, () => import("./pages/gates")],
  [/^\/gates\/([0-9a-f-]+)$/, () => import("./pages/gate")],
  [/^\/compat$/, () => import("./pages/compat")],
  [/^\/upgrade$/, () => import("./pages/upgrade")],
  [/^\/settings$/, () => import("./pages/settings")],
  [/^\/baselines$/, () => import("./pages/baselines")],
];

const fetched = new Map<Fetched, Page>();

function pageAt(path: string) {
  return PAGES.map(([pattern, page]) => ({ match: pattern.exec(path), page })).find(({ match }) => match);
}

// The first page comes beside the words that it speaks, and not after them.
pageAt(location.pathname)?.page().catch(() => undefined);

export function App() {
  const { path } = usePlace();
  language.use();
  useEffect(() => {
    addEventListener("click", followLinks);
    return () => removeEventListener("click", followLinks);
  }, []);
  const found = pageAt(path);
  return (
    <Frame path={path}>
      {found?.match ? <Fetching key={path} page={found.page} id={found.match[1] ?? ""} /> : <NoPage />}
    </Frame>
  );
}

// The first page of a visit leaves the focus where the browser puts it.
let visited = false;

function Fetching({ page, id }: { page: Fetched; id: string }) {
  const [shown, setShown] = useState<Page | undefined>(() => fetched.get(page));
  const [failed, setFailed] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (shown) return;
    page().then(
      (module) => {
        fetched.set(page, module.default);
        setShown(() => module.default);
      },
      () => setFailed(true),
    );
  }, [page]);
  const whole = useWhole(Boolean(shown));
  useEffect(() => {
    if (!whole) return;
    if (visited) box.current?.querySelector("h1")?.focus({ preventScroll: true });
    visited = true;
  }, [whole]);
  if (failed) return <Problem error={new ApiError(0, "PageError", "")} again={() => location.reload()} />;
  const Found = shown;
  return (
    <div ref={box} class={whole ? "" : "coming"}>
      {!whole && <Skeleton lines={12} />}
      {Found && (
        <div class="page">
          <Found id={id} />
        </div>
      )}
    </div>
  );
}

function NoPage() {
  return (
    <div class="empty">
      <h1 tabIndex={-1}>{t("nopage.title")}</h1>
      <p>
        {t("nopage.words")} <a href="/">{t("nav.overview")}</a>
      </p>
    </div>
  );
}
