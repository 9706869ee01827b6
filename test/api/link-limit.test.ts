// Links with a limit of clicks over real HTTP: who counts, what is answered beyond it, and what changes it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIREFOX } from "../support/portal/browser-like.ts";
import { until } from "../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const DESTINATION = "https://example.com/offer";

let service: TestService;
let owner: Member;

beforeAll(async () => {
  service = await startTestService();
  owner = await service.member("developer");
});
const change = (slug: string, body: object) =>
  service.ask(`/api/v1/links/${slug}`, { method: "PATCH", key: owner.key, body });
afterAll(() => service.stop());

const shorten = (fields: object) => service.shorten(owner.key, { url: DESTINATION, ...fields });

async function visit(slug: string, headers: Record<string, string> = {}, method = "GET") {
  return await service.ask<{ code: string }>(`/${slug}`, {
    method,
    headers: { "user-agent": FIREFOX, ...headers },
  });
}
const statuses = async (slug: string, visits: number) => {
  const answers: number[] = [];
  while (answers.length < visits) answers.push((await visit(slug)).status);
  return answers;
};
describe("a link with a limit of clicks", () => {
  it("leads as many people on, and answers the others 404, as JSON or as a page, without a click", async () => {
    const slug = await shorten({ max_clicks: 3 });
    const first = await visit(slug);
    expect([first.status, first.headers.location, first.headers["cache-control"]]).toEqual([
      302,
      DESTINATION,
      "no-store",
    ]);
    expect(await statuses(slug, 4)).toEqual([302, 302, 404, 404]);
    const json = await visit(slug);
    expect([json.body.code, json.headers["cache-control"]]).toEqual(["link_exhausted", "no-store"]);
    const page = await visit(slug, { accept: "text/html" });
    expect(page.text).toContain("<h1>This short link has been opened as often as it may be</h1>");
    await until("the clicks", async () => (await service.clicksOf(slug)).length === 3);
  });

  it("leads the others to expired_url", async () => {
    const expired_url = "https://example.com/sold-out";
    const slug = await shorten({ max_clicks: 1, expired_url, redirect_code: 307 });
    expect((await visit(slug)).headers.location).toBe(DESTINATION);
    const answer = await visit(slug);
    expect([answer.status, answer.headers.location, answer.headers["cache-control"]]).toEqual([
      307,
      expired_url,
      "no-store",
    ]);
  });

  it("counts neither HEAD nor previews nor bots, and answers them as people", async () => {
    const slug = await shorten({ max_clicks: 1 });
    const others = [
      () => visit(slug, {}, "HEAD"),
      () => visit(slug, { "sec-purpose": "prefetch" }),
      () => visit(slug, { "user-agent": "Twitterbot/1.0" }),
    ];
    for (const other of others) expect((await other()).status).toBe(302);
    expect(await statuses(slug, 2)).toEqual([302, 404]);
    for (const other of others) expect((await other()).status).toBe(404);
  });

  it("counts the clicks before it had a limit, and while that was taken away", async () => {
    const slug = await shorten({ max_clicks: 1 });
    expect(await statuses(slug, 2)).toEqual([302, 404]);
    await change(slug, { max_clicks: null });
    expect(await statuses(slug, 2)).toEqual([301, 301]);
    const people = async () =>
      (
        (await service.backend.readStore.get("link-totals", `localhost/${slug}`)) as
          | { people?: number }
          | undefined
      )?.people;
    await expect.poll(people).toBe(3);
    await change(slug, { max_clicks: 4 });
    expect((await visit(slug, {}, "HEAD")).status).toBe(302);
    expect(await statuses(slug, 2)).toEqual([302, 404]);
  });

  it("leads on again when it is raised, and no more when it is lowered", async () => {
    const slug = await shorten({ max_clicks: 2 });
    expect(await statuses(slug, 3)).toEqual([302, 302, 404]);
    const isLed = async () => (await visit(slug, {}, "HEAD")).status;
    await change(slug, { max_clicks: 4 });
    expect(await isLed()).toBe(302);
    expect(await statuses(slug, 1)).toEqual([302]);
    await change(slug, { max_clicks: 3 });
    expect(await isLed()).toBe(404);
    expect(await statuses(slug, 1)).toEqual([404]);
    await change(slug, { max_clicks: null });
    expect(await isLed()).toBe(301);
  });

  it("asks for the password before it counts, and nobody when nothing is left", async () => {
    const slug = await shorten({ max_clicks: 1, password: "open sesame" });
    expect(await statuses(slug, 2)).toEqual([401, 401]);
    const headers = { "user-agent": FIREFOX, "content-type": "application/x-www-form-urlencoded" };
    const give = (password: string) =>
      service.ask(`/${slug}`, { method: "POST", headers, body: `password=${password}` });
    expect([
      (await give("wrong")).status,
      (await give("open sesame")).status,
      (await give("open sesame")).status,
    ]).toEqual([401, 303, 404]);
    expect(await statuses(slug, 1)).toEqual([404]);
  });
});
