// Asks a service for whatever lists, pages and numbers it has, so that a test sees what its stores are asked.
import { LINK_STATUSES } from "../../../src/events/links/link-status.ts";
import { type Visitor, visitor } from "../portal/browser-like.ts";
import { ADMIN_TOKEN } from "../portal/operator.ts";
import { send } from "./ask.ts";

const MOST_PAGES = 120;
const KINDS = ["link", "tag", "domain", "country", "referrer", "device", "hour", "day"];

/** It has SIGN_UP=open and ADMIN_TOKEN. Returns the slugs of the account's links. */
export async function askForEverything(
  port: number,
  { accountId, key }: { accountId: string; key: string },
): Promise<string[]> {
  const api = async (path: string, method = "GET", body?: object) =>
    await send<{ slug?: string }>(port, path, { key, method, ...(body && { body }) });
  const operator = (path: string) =>
    send(port, `/admin/api/${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  const made: string[] = [];
  for (let n = 0; n < 8; n++) {
    const more = {
      tags: ["a"],
      external_id: `e${n}`,
      ...(n === 1 && { max_clicks: 2, password: "eight characters" }),
    };
    const { body } = await api("/api/v1/shorten", "POST", { url: `https://example.com/${n}`, ...more });
    made.push(String(body.slug));
  }
  for (const slug of made) for (let hit = 0; hit < 3; hit++) await send(port, `/${slug}`, {});
  await api(`/api/v1/links/${made[7]}`, "DELETE");
  await api(`/api/v1/links/${made[6]}/disable`, "POST");

  for (const scope of ["key", "account"])
    for (const sort of ["created_at", "-created_at"])
      for (const filter of [
        ...["q=example", "tag=a", "external_id=e1", "made_by=api", "domain_id=default", "from=2026-01-01"],
        ...LINK_STATUSES.map((status) => `status=${status}`),
      ])
        for (const search of ["", "&q=e1"])
          await api(`/api/v1/links?scope=${scope}&sort=${sort}&${filter}${search}`);
  for (const by of KINDS)
    for (const filter of ["", "&tag=a", `&link=${made[0]}`])
      await api(`/api/v1/analytics?group_by=${by}${filter}`);
  for (const path of [
    ...["tags", "clicks", "clicks/export", "changes?since=2026-01-01", "events?limit=10", "links/export"],
    ...[`analytics/${made[0]}`, `analytics/${made[0]}/changes?since=2026-01-01`, `links/${made[0]}/history`],
  ])
    await api(`/api/v1/${path}`);
  for (const path of [
    ...["streams?category=link", `streams?category=link&account=${accountId}`, "streams?category=clicks"],
    ...[
      "events",
      "events?type=LinkCreated",
      `events?account=${accountId}`,
      "events?actor=system",
      "events?category=link",
    ],
    ...["events?correlation_id=x", "clicks?limit=10", "projections", "accounts", "withdrawals"],
  ])
    await operator(path);
  await crawl(port);
  return made;
}

/** The pages of the portal that lead to each other, signed up and with a link or two. */
async function crawl(port: number): Promise<void> {
  const person: Visitor = visitor(port, { address: "198.51.100.7" });
  await person.submit("/portal/sign-up", { email: "person@example.com", password: "seven brown foxes" });
  for (const url of ["https://example.com/a", "https://example.com/b"])
    await person.post("/portal/links", { url });
  const waiting = ["/portal"];
  const seen = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined && seen.size < MOST_PAGES; path = waiting.shift()) {
    const { text } = await person.get(path);
    for (const [, href = ""] of text.matchAll(/href="(\/portal[^"#]*)"/g)) {
      const to = href.replaceAll("&amp;", "&");
      if (!seen.has(to)) waiting.push(to);
      seen.add(to);
    }
  }
}
