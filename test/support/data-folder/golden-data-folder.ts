// What a golden data folder was made with, and the questions whose answers are kept beside it.
import type { LogVerification } from "../../../src/audit/verify-log.ts";
import type { TestService } from "../service/start-service.ts";

export const GOLDEN = {
  email: "owner@example.com",
  password: "seven brown foxes",
  hostname: "go.golden.example",
  /** Its webhooks were made with this port, so a test has to listen there. */
  webhookPort: 18_473,
  environment: { TRUST_PROXY: "127.0.0.1/32", WEBHOOK_ALLOW_PRIVATE: "true", LOG_LEVEL: "error" },
} as const;

export type GoldenFacts = {
  accountId: string;
  key: string;
  keyId: string;
  revokedKey: string;
  freeKey: string;
  domainId: string;
  /** The last one is another account's. */
  links: { host: string; slug: string }[];
  webhooks: { id: string; key: string | undefined }[];
};

type Asked = { path: string; status: number; body: unknown };

export type GoldenAnswers = {
  questions: Asked[];
  redirects: { host: string; slug: string; status: number; location: string | undefined }[];
};

/** `at`: the moment the questions were asked at. */
export type Golden = {
  at: string;
  facts: GoldenFacts;
  answers: GoldenAnswers;
  verification: LogVerification;
};

/** What the API says of every link, key and list; records nothing. */
export async function questionsOf(service: TestService, facts: GoldenFacts): Promise<Asked[]> {
  const analytics = facts.links.map(({ host, slug }) => {
    const query = host === "localhost" ? "" : `?domain_id=${facts.domainId}`;
    return `/api/v1/analytics/${slug}${query}`;
  });
  const paths = ["/api/v1/links?limit=100", "/api/v1/links?limit=3", ...analytics];
  const asked: Asked[] = [];
  for (const key of [facts.key, facts.freeKey, facts.revokedKey])
    for (const path of key === facts.revokedKey ? paths.slice(0, 1) : paths) {
      const { status, body } = await service.ask(path, { key });
      asked.push({ path, status, body: withoutRequestId(body) });
    }
  return asked;
}

/** Where each link leads; records a preview for those that lead anywhere. */
export async function redirectsOf(
  service: TestService,
  { links }: GoldenFacts,
): Promise<GoldenAnswers["redirects"]> {
  const redirects = [];
  for (const { host, slug } of links) {
    const { status, headers } = await service.ask(`/${slug}`, { host, method: "HEAD" });
    redirects.push({ host, slug, status, location: headers.location });
  }
  return redirects;
}

function withoutRequestId(body: unknown): unknown {
  const { request_id: _, ...rest } = (body ?? {}) as Record<string, unknown>;
  return rest;
}
