// The address is the only state of a view: reading, changing and following it.

import { useSyncExternalStore } from "./parts/store";

export interface Place {
  path: string;
  query: URLSearchParams;
}

const changed = new Set<() => void>();
let current = read();

function read(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

function tell(): void {
  current = read();
  for (const listener of changed) listener();
}

addEventListener("popstate", tell);

export function usePlace(): Place {
  return useSyncExternalStore(
    (listener) => {
      changed.add(listener);
      return () => changed.delete(listener);
    },
    () => current,
  );
}

/** Go to an address of ours. replace: leave no step to go back to, as while a slider moves. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.pathname + location.search) return;
  const samePage = address.split("?")[0] === location.pathname;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  tell();
  if (!samePage) scrollTo(0, 0);
}

/** Return the address of a path with a query; what is empty is left out. */
export function address(path: string, query: Record<string, string | null | undefined> = {}): string {
  const kept = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const text = new URLSearchParams(kept).toString();
  return text ? `${path}?${text}` : path;
}

/** Return the present address with some of its query changed. */
export function changedAddress(changes: Record<string, string | null>): string {
  const all = Object.fromEntries(current.query.entries());
  return address(current.path, { ...all, ...changes });
}

/** Follow a plain click on a link of ours without loading the page anew. */
export function followLinks(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (/^\/(api|openapi\.json|metrics|healthz|readyz)/.test(link.pathname) || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
