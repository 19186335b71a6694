"""What is asked of the browser about a page: how it moved, when it was drawn, how it scrolls."""

# When the first content was painted, in milliseconds, and how far anything moved.
MOVED = """() => new Promise((done) => {
  const seen = { shift: 0, paint: 0, moved: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      seen.shift += entry.value;
      for (const { node } of entry.sources) {
        const box = node && (node.outerHTML ?? node.parentElement?.outerHTML);
        seen.moved.push(`${entry.value.toFixed(4)} ${(box ?? "").slice(0, 160)}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry.name === "first-contentful-paint") seen.paint = entry.startTime;
  }).observe({ type: "paint", buffered: true });
  // Both are told a little after they happened.
  const end = () => (seen.paint ? setTimeout(() => done(seen), 50) : setTimeout(end, 20));
  requestAnimationFrame(() => requestAnimationFrame(end));
})"""

# Before a page: tells how long after the last byte of a series' outline a frame shows it.
DRAWN = """
let drawnAt = 0;
window.drawnAfter = () => {
  const asked = performance.getEntriesByType("resource");
  const [outline] = asked.filter(({ name }) => name.includes("/series/outline"));
  return outline && drawnAt && drawnAt - outline.responseEnd;
};
new PerformanceObserver((list) => {
  if (drawnAt || list.getEntriesByName("kunline.drawn").length === 0) return;
  requestAnimationFrame(() => setTimeout(() => (drawnAt ||= performance.now())));
}).observe({ type: "mark" });
"""

# Waits for it.
DRAWN_AFTER = """() => new Promise((done) => {
  const look = () => (window.drawnAfter() ? done(window.drawnAfter()) : setTimeout(look, 20));
  look();
})"""

# Scrolls the whole table in forty steps, and tells the longest time between two frames.
SCROLLED = """() => new Promise((done) => {
  const box = document.querySelector(".scroll.tall");
  let [step, before, slowest] = [0, performance.now(), 0];
  const draw = (now) => {
    slowest = Math.max(slowest, now - before);
    before = now;
    box.scrollTop = (box.scrollHeight * step) / 40;
    step += 1;
    if (step > 40) done(slowest);
    else requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
})"""
