// Small parts of pages: headings, lists of facts, keys, choices.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";

/** A page's heading, which is the window's title as well. */
export function Heading({ title, sub, children }: { title: string; sub?: ComponentChildren; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Kunline`;
  }, [title]);
  return (
    <header class="heading">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {sub && <p class="muted">{sub}</p>}
      </div>
      {children && <div class="acts">{children}</div>}
    </header>
  );
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? "–"}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A key's first digits; the whole of it is in the title. */
export function Key({ of }: { of: string }) {
  return (
    <code title={of} class="key">
      {of.slice(0, 12)}
    </code>
  );
}

interface Chosen {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
  /** The words for no choice; without it there is always one. */
  any?: string;
}

export function Choice({ label, value, options, onChange, any }: Chosen) {
  const id = useId();
  return (
    <div class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

interface Written {
  label: string;
  /** As the address has it. */
  value: string;
  onChange: (value: string) => void;
  name?: string;
  isNumber?: boolean;
}

/** A field whose words go into the address once they are written; until then they stay as typed. */
export function Entry({ label, value, onChange, name, isNumber = false }: Written) {
  const [words, setWords] = useState(value);
  useEffect(() => setWords(value), [value]);
  return (
    <label class="choice">
      <span>{label}</span>
      <input
        {...(isNumber ? { type: "number", min: 0, step: "any" } : { type: "text", maxLength: 128 })}
        name={name}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
    </label>
  );
}

export function More({ summary, children }: { summary: string; children: ComponentChildren }) {
  return (
    <details>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
