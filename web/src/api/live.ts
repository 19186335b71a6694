// A session as it goes on: the service's event stream, read with this tab's token.

import { useEffect, useState } from "preact/hooks";
import { headers, type Schemas } from "./client";

type Session = Schemas["SessionRead"];
type Changed = Schemas["SessionChanged"];

// A stream that broke is asked for again after so long, twice as long each time.
const AGAIN_MS = 1000;
const AGAIN_MAX_MS = 30_000;

export type Live = "joining" | "live" | "over" | "away";

export interface Followed {
  session: Session | undefined;
  live: Live;
}

/** Follow a session until it is over. id null: nobody is followed. */
export function useSession(id: string | null): Followed {
  const [session, setSession] = useState<Session>();
  const [live, setLive] = useState<Live>("joining");
  useEffect(() => {
    if (!id) return;
    const stop = new AbortController();
    setSession(undefined);
    setLive("joining");
    void follow(id, stop.signal, setLive, (changed) => setSession((before) => merged(before, changed)));
    return () => stop.abort();
  }, [id]);
  return { session: session?.id === id ? session : undefined, live };
}

function merged(before: Session | undefined, { session, jobs }: Changed): Session {
  const changed = new Map(jobs.map((job) => [job.id, job]));
  const known = before?.id === session.id ? before.jobs : [];
  const kept = known.map((job) => changed.get(job.id) ?? job);
  const added = jobs.filter((job) => !known.some((each) => each.id === job.id));
  return { ...session, jobs: [...kept, ...added].sort((a, b) => a.ordinal - b.ordinal) };
}

async function follow(id: string, stop: AbortSignal, tell: (live: Live) => void, change: (changed: Changed) => void): Promise<void> {
  let wait = AGAIN_MS;
  while (!stop.aborted) {
    try {
      const response = await fetch(`/api/v1/sessions/${id}/events`, { headers: headers(), signal: stop });
      if (!response.ok || !response.body) throw new Error(String(response.status));
      wait = AGAIN_MS;
      tell("live");
      for await (const event of events(response.body)) {
        if (event.name === "over") {
          tell("over");
          return;
        }
        change(JSON.parse(event.data) as Changed);
      }
    } catch {
      if (stop.aborted) return;
    }
    tell("away");
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, AGAIN_MAX_MS);
  }
}

interface Event {
  name: string;
  data: string;
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text = (text + decoder.decode(value, { stream: true })).replaceAll("\r\n", "\n");
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parsed(block);
      if (event.data) yield event;
    }
  }
}

function parsed(block: string): Event {
  const event: Event = { name: "message", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event.name = line.slice(6).trim();
    else if (line.startsWith("data:")) event.data += line.slice(5).trim();
  }
  return event;
}
