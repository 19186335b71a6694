// Many rows drawn a part at a time: the first at once, the others between frames.

import { useEffect, useState } from "preact/hooks";

const FIRST = 60;
const STEP = 90;

/** Return how many of the rows are to be drawn now. */
export function useGrowing(rows: readonly unknown[]): number {
  const [grown, setGrown] = useState({ rows, count: FIRST });
  const count = grown.rows === rows ? grown.count : FIRST;
  useEffect(() => {
    if (count >= rows.length) return;
    // A frame is drawn between two steps, so that scrolling and typing go on.
    let timer = 0;
    const frame = requestAnimationFrame(() => {
      timer = window.setTimeout(() => setGrown({ rows, count: count + STEP }));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [rows, count]);
  return Math.min(count, rows.length);
}

/** Return whether a frame was drawn since something was ready: what stands below it waits for that. */
export function useDrawn(ready: boolean): boolean {
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    if (!ready || drawn) return;
    let timer = 0;
    const frame = requestAnimationFrame(() => {
      timer = window.setTimeout(() => setDrawn(true));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [ready, drawn]);
  return drawn;
}
