// What is waited for with nothing to show meanwhile: a page is shown once nothing is, so that
// nothing on it moves.

import { useEffect, useState } from "preact/hooks";

// A page whose answers take longer is shown with a skeleton for each of them.
const LIMIT_MS = 1500;

let waiting = 0;
const listeners = new Set<() => void>();

/** Count something as waited for until it is there, or has failed. */
export function waitedFor<Value>(coming: Promise<Value>): Promise<Value> {
  waiting += 1;
  return coming.finally(() => {
    waiting -= 1;
    for (const listener of listeners) listener();
  });
}

/** Return whether all is there that a page asked for at first. drawn: whether the page itself is. */
export function useWhole(drawn: boolean): boolean {
  const [whole, setWhole] = useState(false);
  useEffect(() => {
    if (!drawn || whole) return;
    let [frame, timer] = [0, 0];
    const look = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      // What was just answered is drawn first, and may ask for more.
      frame = requestAnimationFrame(() => {
        timer = window.setTimeout(() => {
          timer = window.setTimeout(() => waiting === 0 && setWhole(true));
        });
      });
    };
    listeners.add(look);
    look();
    const limit = setTimeout(() => setWhole(true), LIMIT_MS);
    return () => {
      listeners.delete(look);
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      clearTimeout(limit);
    };
  }, [drawn, whole]);
  return whole;
}
