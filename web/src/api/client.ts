// The HTTP API as typed calls. The types come from docs/openapi.json; see schema.ts.

import { kept } from "../parts/store";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

type Answers<Operation> = Operation extends { responses: infer All } ? All[keyof All & (200 | 201)] : never;
type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : never;

export type ReadPath = {
  [Path in keyof paths]: paths[Path] extends { get: { responses: unknown } } ? Path : never;
}[keyof paths];
export type WritePath = {
  [Path in keyof paths]: paths[Path] extends { post: { responses: unknown } } ? Path : never;
}[keyof paths];
export type Answer<Path extends ReadPath> = paths[Path] extends { get: infer Get } ? Json<Answers<Get>> : never;
export type Written<Path extends WritePath> = paths[Path] extends { post: infer Post } ? Json<Answers<Post>> : never;
type Parameters<Operation, Where extends string> = Operation extends {
  parameters: { [Key in Where]?: infer Found };
}
  ? Exclude<Found, undefined>
  : never;
export type Query<Path extends ReadPath> = paths[Path] extends { get: infer Get } ? Parameters<Get, "query"> : never;
export type InPath = Record<string, string>;

// Longer than the slowest page may take, shorter than a reader's patience.
const LIMIT_MS = 20_000;
const TOKEN = "kunline.token";

/** An answer that is no answer: its status (0 where nothing answered) and the service's words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    words: string,
  ) {
    super(words);
  }
}

function readToken(): string {
  try {
    return sessionStorage.getItem(TOKEN) ?? "";
  } catch {
    return "";
  }
}

/** The token of this tab, and whether the service has asked for one. */
export const token = kept(readToken());
export const tokenAsked = kept(false);

export function keepToken(secret: string): void {
  try {
    if (secret) sessionStorage.setItem(TOKEN, secret);
    else sessionStorage.removeItem(TOKEN);
  } catch {
    // Storage may be switched off; the token lives as long as the page then.
  }
  token.set(secret);
}

export function urlOf(path: string, inPath: InPath = {}, query: object = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? ""));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") asked.append(name, String(each));
    }
  }
  const text = asked.toString();
  return text ? `${filled}?${text}` : filled;
}

export function headers(): Record<string, string> {
  const secret = token.get();
  return secret ? { Authorization: `Bearer ${secret}` } : {};
}

/** Ask, and return what was answered. Throws ApiError, or AbortError when the caller stops. */
export async function send(url: string, init: RequestInit & { signal?: AbortSignal } = {}): Promise<Response> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  let response: Response;
  try {
    response = await fetch(url, { ...init, signal, headers: { ...headers(), ...init.headers } });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    if (limit.aborted) throw new ApiError(0, "TimeoutError", "");
    throw new ApiError(0, "UnreachableError", "");
  }
  if (response.ok) return response;
  if (response.status === 401) tokenAsked.set(true);
  const problem = (await response.json().catch(() => null)) as { type?: string; title?: string } | null;
  throw new ApiError(response.status, problem?.type ?? "HttpError", problem?.title ?? response.statusText);
}

export async function post<Path extends WritePath>(
  path: Path,
  inPath: InPath,
  body: unknown = undefined,
): Promise<Written<Path>> {
  const response = await send(urlOf(path, inPath), {
    method: "POST",
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  return (await response.json()) as Written<Path>;
}
