// Events as a store would hand them out, for tests that need no store; positions follow the order of making.
import {
  catalogue,
  type EventOf,
  type EventType,
  type LinkledgerEvent,
  type StoredEvent,
} from "../../../src/events/catalogue.ts";

export const ACCOUNT = "6f8b1a52-3c1d-4a52-9d5e-0a1b2c3d4e5f";
export const OTHER_ACCOUNT = "7a9c2b63-4d2e-4b63-8e6f-1b2c3d4e5f60";
export const KEY = "11111111-2222-4333-8444-555555555555";
export const DOMAIN = "99999999-2222-4333-8444-555555555555";
export const AT = "2026-03-01T10:15:00.000Z";

export function position(n: number): string {
  return String(n).padStart(20, "0");
}

/** The n-th event of the store. */
export function stored<T extends EventType>(n: number, event: EventOf<T>, stream = "any-1"): StoredEvent {
  return {
    ...(event as LinkledgerEvent),
    id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    stream,
    revision: n,
    position: position(n),
    recordedAt: AT,
    metadata: {
      schemaVersion: catalogue[event.type].version,
      correlationId: "request",
      causationId: "request",
      actor: { type: "operator" },
    },
  };
}

type Click = EventOf<"LinkClicked">["data"];
export type ClickFields = { [M in keyof Click]?: Click[M] | undefined };

/** What is given as undefined is absent. */
export function linkClicked(fields: ClickFields = {}): EventOf<"LinkClicked"> {
  return {
    type: "LinkClicked",
    data: withoutUndefined({
      link: "sho.rt/abc",
      linkRevision: 0,
      longUrl: "https://example.com/",
      accountId: ACCOUNT,
      via: "api",
      at: AT,
      kind: "click",
      rules: "1, isbot@1.0.0, ua-parser-js@1.0.0",
      method: "GET",
      userAgent: "Mozilla/5.0",
      device: "desktop",
      browser: { name: "Firefox", version: "140.0" },
      os: { name: "Linux" },
      ip: "192.0.2.0",
      country: "FR",
      region: "IDF",
      city: "Paris",
      referrer: "https://www.example.org/page",
      language: "fr",
      visitor: "0123456789abcdef",
      accountVisitor: "fedcba9876543210",
      ...fields,
    }),
  };
}

function withoutUndefined(fields: ClickFields): Click {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Click;
}

export function linkDisabled(slug: string): EventOf<"LinkDisabled"> {
  return { type: "LinkDisabled", data: { host: "sho.rt", slug, accountId: ACCOUNT, at: AT } };
}

export function linkCreated(fields: Partial<EventOf<"LinkCreated">["data"]> = {}): EventOf<"LinkCreated"> {
  const { host = "sho.rt", slug = "abc" } = fields;
  return {
    type: "LinkCreated",
    data: {
      host,
      slug,
      accountId: ACCOUNT,
      at: AT,
      longUrl: "https://example.com/",
      shortUrl: `https://${host}/${slug}`,
      via: "api",
      custom: false,
      keyId: KEY,
      ...fields,
    },
  };
}
