// A table of anything: sorted by the address, walked by j and k, saved as CSV or JSON.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { changedAddress, go, usePlace } from "../route";
import { t } from "../words";
import { csv, saveText } from "./download";

type Plain = string | number | boolean | null | undefined;

export interface Column<Row> {
  key: string;
  title: string;
  /** What is sorted by and saved; in base units. */
  value: (row: Row) => Plain;
  /** What is shown; the value itself where it is left out. */
  cell?: (row: Row) => ComponentChildren;
  numeric?: boolean;
  /** The column that names its row. */
  heads?: boolean;
  /** Left out where the window is narrow. */
  wide?: boolean;
  /** Holds a sentence or a long name, and is given the room for it. */
  long?: boolean;
  /** Holds a version, which is short but where it is not. */
  wraps?: boolean;
  /** Is not shown: another column shows it beside its own. */
  saved?: boolean;
}

interface Wanted<Row> {
  /** Names the table in the address, in files and to a screen reader. */
  name: string;
  caption: string;
  rows: readonly Row[];
  columns: Column<Row>[];
  keyOf: (row: Row) => string;
  /** Sorted by this column at first; a minus before it means descending. */
  sorted?: string;
  hideCaption?: boolean;
  classOf?: (row: Row) => string;
  most?: number;
}

export function Table<Row>(wanted: Wanted<Row>) {
  const { name, caption, rows, columns, keyOf, sorted = "", most = 500 } = wanted;
  const place = usePlace();
  const order = place.query.get(`${name}.sort`) ?? sorted;
  const shown = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  const all = place.query.get(`${name}.all`) === "1";
  const visible = all ? shown : shown.slice(0, most);
  const seen = columns.filter((column) => !column.saved);
  return (
    <div class="tablebox">
      <div class="tablehead">
        <h3 class={wanted.hideCaption ? "unseen" : ""} id={`${name}-caption`}>
          {caption}
        </h3>
        <Save name={name} columns={columns} rows={() => shown} />
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby={`${name}-caption`}>
        <table aria-labelledby={`${name}-caption`}>
          <thead>
            <tr>
              {seen.map((column) => (
                <Head key={column.key} name={name} column={column} order={order} />
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.map((row) => (
              <tr key={keyOf(row)} data-row class={wanted.classOf?.(row) ?? ""}>
                {seen.map((column) => (
                  <Cell key={column.key} column={column} row={row} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {visible.length < shown.length && (
        <p class="more">
          {t("table.some", { shown: visible.length, total: shown.length })}{" "}
          <a href={changedAddress({ [`${name}.all`]: "1" })}>{t("table.all")}</a>
        </p>
      )}
    </div>
  );
}

function Head<Row>({ name, column, order }: { name: string; column: Column<Row>; order: string }) {
  const up = order === column.key;
  const down = order === `-${column.key}`;
  const next = up ? `-${column.key}` : column.key;
  return (
    <th
      scope="col"
      class={classes(column)}
      aria-sort={up ? "ascending" : down ? "descending" : "none"}
    >
      <button
        type="button"
        class="sort"
        onClick={() => go(changedAddress({ [`${name}.sort`]: next }), { replace: true })}
      >
        {column.title}
        <span aria-hidden="true" class="arrow">
          {up ? "▲" : down ? "▼" : ""}
        </span>
      </button>
    </th>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const inside = plain((column.cell ?? column.value)(row));
  return column.heads ? (
    <th scope="row" class={classes(column)}>
      {inside}
    </th>
  ) : (
    <td class={classes(column)}>{inside}</td>
  );
}

function classes<Row>(column: Column<Row>): string {
  return [column.numeric && "number", column.wide && "wide", column.long && "long", column.wraps && "wraps"].filter(Boolean).join(" ");
}

function plain(inside: ComponentChildren): ComponentChildren {
  if (inside === null || inside === undefined || inside === "" || inside === false) return <span class="muted">–</span>;
  return inside === true ? "true" : inside;
}

function inOrder<Row>(rows: readonly Row[], columns: Column<Row>[], order: string): Row[] {
  const column = columns.find((each) => each.key === order.replace(/^-/, ""));
  if (!column) return [...rows];
  const sign = order.startsWith("-") ? -1 : 1;
  return [...rows].sort((a, b) => sign * compared(column.value(a), column.value(b), sign));
}

// What is not there stands last, whichever way is sorted.
function compared(a: Plain, b: Plain, sign: number): number {
  const noA = a === null || a === undefined;
  const noB = b === null || b === undefined;
  if (noA || noB) return noA && noB ? 0 : (noA ? 1 : -1) * sign;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** Buttons that save what a table or a chart shows. */
export function Save<Row>({ name, columns, rows }: { name: string; columns: Column<Row>[]; rows: () => readonly Row[] }) {
  const asCsv = () =>
    saveText(
      csv([columns.map((column) => column.key), ...rows().map((row) => columns.map((column) => column.value(row)))]),
      `kunline-${name}.csv`,
      "text/csv;charset=utf-8",
    );
  const asJson = () =>
    saveText(
      JSON.stringify(
        rows().map((row) => Object.fromEntries(columns.map((column) => [column.key, column.value(row) ?? null]))),
        null,
        1,
      ),
      `kunline-${name}.json`,
      "application/json",
    );
  return (
    <span class="save">
      <button type="button" class="quiet" onClick={asCsv} aria-label={t("table.save", { kind: "CSV" })}>
        CSV
      </button>
      <button type="button" class="quiet" onClick={asJson} aria-label={t("table.save", { kind: "JSON" })}>
        JSON
      </button>
    </span>
  );
}
