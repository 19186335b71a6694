// A value outside the components that tells when it changes.

import { useEffect, useRef, useState } from "preact/hooks";

export function useSyncExternalStore<Value>(
  subscribe: (listener: () => void) => () => void,
  get: () => Value,
): Value {
  const [, redraw] = useState({});
  useEffect(() => {
    const before = get();
    const stop = subscribe(() => redraw({}));
    if (get() !== before) redraw({});
    return stop;
  }, []);
  return get();
}

export interface Kept<Value> {
  get(): Value;
  set(value: Value): void;
  use(): Value;
}

export function kept<Value>(value: Value): Kept<Value> {
  const listeners = new Set<() => void>();
  const get = () => value;
  return {
    get,
    set(next) {
      value = next;
      for (const listener of listeners) listener();
    },
    use: () =>
      useSyncExternalStore((listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      }, get),
  };
}

/** Return a value, or the last there was while there is none: what is shown stays while it is asked for anew. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}

/** Return what this browser remembers under a name: nothing where storage is switched off. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Let this browser remember a choice, or forget it; with storage off it lives as long as the page. */
export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // The choice lives as long as the page.
  }
}
