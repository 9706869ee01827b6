// Examples of the main requests and answers in the OpenAPI document, by operation: what a reader copies first.
import type { z } from "zod";
import type { LinkDetailsObject, LinkObject } from "../../queries/links/link-object.ts";
import type { AccountAnalyticsAnswer } from "../analytics/account-schema.ts";
import type { AnalyticsSchema } from "../analytics/link-schema.ts";
import type { PatchRequest, ShortenRequest } from "../links/link-requests.ts";
import type { BulkAnswerSchema, ErrorAnswerSchema, LinkPageSchema } from "../schemas.ts";

type Named<T> = Readonly<Record<string, T>>;
type Examples = { request?: Named<unknown>; answers?: Readonly<Record<number, Named<unknown>>> };

const DOMAIN_ID = "3f0d5f2e-6f1c-4b52-9c1b-0f6f7a1f4f11";

const link = {
  short_url: "https://lnk.example/k7m2pqx",
  slug: "k7m2pqx",
  long_url: "https://example.com/spring?utm_source=newsletter",
  created_at: "2026-01-31T12:00:00.000Z",
  qr_download_url: "https://lnk.example/api/qr/k7m2pqx",
} satisfies LinkObject;

const details = {
  ...link,
  title: "Spring sale",
  tags: ["newsletter"],
  status: "live",
  disabled: false,
  revision: 1,
  updated_at: "2026-02-01T08:30:00.000Z",
} satisfies LinkDetailsObject;

const requests = {
  plain: { url: link.long_url },
  custom: { url: "https://example.com/spring", customSlug: "spring-sale", domain_id: DOMAIN_ID },
  timed: {
    url: "https://example.com/spring",
    title: "Spring sale",
    tags: ["newsletter"],
    expires_at: "2099-04-01T00:00:00Z",
    expired_url: "https://example.com/over",
  },
  rules: {
    url: "https://example.com/",
    rules: [
      { when: { os: ["iOS", "Android"], country: ["DE", "AT"] }, url: "https://example.com/de/app" },
      { name: "A", when: { share: 50 }, url: "https://example.com/a" },
    ],
  },
} satisfies Named<z.infer<typeof ShortenRequest>>;

const patches = {
  destination: { url: "https://example.com/summer" },
  fields: { title: "Summer sale", tags: ["newsletter", "summer"], expires_at: null },
} satisfies Named<z.infer<typeof PatchRequest>>;

const bulk = {
  success: true,
  tier: "developer",
  total: 2,
  created: 1,
  failed: 1,
  results: [{ index: 0, ...withoutQr(link) }],
  errors: [
    {
      index: 1,
      url: "nonsense",
      error: "Invalid URL: please provide a valid HTTP/HTTPS URL",
      code: "invalid_url",
    },
  ],
} satisfies z.infer<typeof BulkAnswerSchema>;

const page = { links: [details], total: 308, next_cursor: "eyJ2IjoiMjAyNi0wMS0zMSJ9" } satisfies z.infer<
  typeof LinkPageSchema
>;

const analytics = {
  link: { id: link.slug, long_url: link.long_url, created_at: link.created_at },
  analytics: {
    totalClicks: 3,
    actualClicks: 1,
    previews: 1,
    qrScans: 1,
    eventTypes: { click: 1, preview: 1, qr_scan: 1 },
    devices: { desktop: 1, mobile: 1, unknown: 1 },
    cities: { Paris: 2, unknown: 1 },
    browsers: { Firefox: 1, "Mobile Safari": 1, unknown: 1 },
    os: { Linux: 1, iOS: 1, unknown: 1 },
    countries: { FR: 2, unknown: 1 },
    referrers: { direct: 2, "news.example": 1 },
    hourlyClicks: { "2026-02-01T08:00:00.000Z": 3 },
    utm: { source: { newsletter: 3 }, medium: {}, campaign: {}, term: {}, content: {} },
    recentClicks: [],
  },
} satisfies z.infer<typeof AnalyticsSchema>;

const totals = {
  people: 41,
  click: 38,
  qr_scan: 3,
  preview: 9,
  visitors: 27,
};
const none = {
  people: 0,
  click: 0,
  qr_scan: 0,
  preview: 0,
  visitors: 0,
};

const accountAnalytics = {
  range: {
    from: "2026-11-01T00:00:00.000+01:00",
    to: "2026-11-03T00:00:00.000+01:00",
    interval: "day",
    timezone: "Europe/Berlin",
  },
  totals,
  series: [
    { start: "2026-11-01T00:00:00.000+01:00", ...totals },
    { start: "2026-11-02T00:00:00.000+01:00", ...none },
  ],
  groups: [{ value: "FR", ...totals }],
  other: null,
  as_of_position: "00000000000000004711",
  behind_ms: 0,
} satisfies AccountAnalyticsAnswer;

const history = {
  history: [
    {
      type: "LinkRetargeted",
      at: details.updated_at,
      actor: { type: "key", id: "019532f1-6c1e-7a10-8b11-3c5d7e9f1a2b" },
      revision: 1,
      position: "00000000000000004711",
      changes: { url: { from: "https://example.com/winter", to: link.long_url } },
    },
  ],
  total: 2,
  next_cursor: page.next_cursor,
};

function errorAnswer(code: string, error: string): Named<z.infer<typeof ErrorAnswerSchema>> {
  return { [code]: { error, code, request_id: "01a21db7-57e5-70fd-bf40-76b57c0da9f6-1" } };
}

function withoutQr({ qr_download_url: _, ...rest }: LinkObject): Omit<LinkObject, "qr_download_url"> {
  return rest;
}

const EXAMPLES: Readonly<Record<string, Examples>> = {
  shorten: {
    request: requests,
    answers: {
      201: { link },
      400: errorAnswer("invalid_url", "Invalid URL: please provide a valid HTTP/HTTPS URL"),
      409: errorAnswer("slug_taken", "The slug spring-sale already exists on go.example.org"),
    },
  },
  shortenInBulk: {
    request: { two: { links: [{ url: link.long_url }, { url: "nonsense" }] } },
    answers: { 201: { two: bulk } },
  },
  getLink: { answers: { 200: { link: details } } },
  changeLink: {
    request: patches,
    answers: {
      200: { link: { ...details, long_url: patches.destination.url } },
      412: errorAnswer(
        "precondition_failed",
        "It has been changed since you read it: read it again, and decide anew",
      ),
    },
  },
  deleteLink: { answers: { 200: { link: { ...details, status: "deleted" } } } },
  restoreLink: { request: { plain: {} } },
  deleteLinksInBulk: { request: { one: { links: [{ slug: link.slug }] } } },
  deleteLinksInBulkByPost: { request: { one: { links: [{ slug: link.slug }] } } },
  changeTag: { request: { merge: { name: "spring sale", merge: true } } },
  inviteMember: { request: { editor: { email: "colleague@example.com", role: "editor" } } },
  changeMember: { request: { viewer: { role: "viewer" } } },
  saveFilter: { request: { tag: { name: "Spring in Germany", tag: "spring" } } },
  makeSharedPage: {
    request: {
      campaign: {
        name: "Spring sale",
        filters: { tag: ["newsletter"] },
        range: "30d",
      },
    },
  },
  changeLinksInBulk: { request: { tags: { links: [{ slug: link.slug, tags: ["summer"] }] } } },
  listLinks: { answers: { 200: { page } } },
  getLinkHistory: { answers: { 200: { history } } },
  getAnalytics: { answers: { 200: { analytics } } },
  getAccountAnalytics: { answers: { 200: { countries: accountAnalytics } } },
};

type Content = Readonly<Record<string, object>>;
type Operation = {
  operationId?: string;
  requestBody?: { content?: Content };
  responses?: Readonly<Record<string, { content?: Content }>>;
};

/** Adds an operation's examples to its JSON bodies. */
export function addExamples({ operationId, requestBody, responses }: Operation): void {
  const { request, answers = {} } = EXAMPLES[operationId ?? ""] ?? {};
  addTo(requestBody?.content, request);
  for (const [status, examples] of Object.entries(answers)) addTo(responses?.[status]?.content, examples);
}

function addTo(content: Content | undefined, examples: Named<unknown> | undefined): void {
  const body = content?.["application/json"];
  if (!body || !examples) return;
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  Object.assign(body, { examples: Object.fromEntries(named) });
}
