// Something done again and again while somebody looks.

import { useEffect, useRef } from "preact/hooks";

/** Call a function so often, but not in a window that nobody sees. */
export function useEvery(ms: number, act: () => void): void {
  const newest = useRef(act);
  newest.current = act;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && newest.current(), ms);
    return () => clearInterval(timer);
  }, [ms]);
}
