// One link explained, on the command line, in the console and to its owner; a forged log is named where it was changed.
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { explainLink } from "../../../src/queries/audit/explain-link.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { decoded, visitor } from "../../support/portal/browser-like.ts";
import { ADMIN_TOKEN, operatorOf } from "../../support/portal/operator.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

describe("a link explained", { timeout: 60_000 }, () => {
  let folder: TemporaryFolder;
  let service: TestService;
  let cli: ReturnType<typeof commandLine>;
  let owner: Person;
  let stranger: Person;
  let path: string;
  let slug: string;
  let sealKey: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startTestService({
      ...{ ADMIN_TOKEN, TRUST_PROXY: "127.0.0.1/32" },
      DATA_DIR: join(folder.path, "data"),
    });
    cli = commandLine(service.config.dataDir);
    sealKey = (await cli.json("audit", "key")).public_key;
    const people = portalPeople(service);
    owner = await people.person();
    stranger = await people.person();
    path = await people.shorten(owner, "https://example.com/spring");
    slug = path.split("/").at(-1) as string;
    await owner.post(`${path}/edit`, { url: "https://example.com/summer" });
    await owner.post(`${path}/disable`, {});
    await owner.post(`${path}/enable`, {});
    const headers = {
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    };
    for (let n = 0; n < 3; n += 1) await people.follow(path, headers);
    await people.follow(path, headers, "?qr=1");
    await people.follow(path, { "user-agent": "curl/8.0 (a test)" });
    await until("the clicks", async () => (await cli.json("explain", slug)).clicks.total === 5);
    await cli.json(
      "clicks",
      "withdraw",
      slug,
      ...["--from", "2020-01-01", "--user-agent", "a test"],
      ...["--reason", "a test click"],
    );
    await until("the withdrawal", async () => (await cli.json("explain", slug)).clicks.total === 4);
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const EXPLAINED = () => ({
    link: `localhost/${slug}`,
    destination: "https://example.com/summer",
    status: "live",
    owner: { account_id: owner.accountId, email: owner.email },
    created_by: owner.email,
    clicks: { click: 3, qr_scan: 1, preview: 0, total: 4 },
    withdrawals: [{ clicks: 1, reason: "a test click", restored_at: null }],
    set_aside: [],
    problems: [],
  });

  it("is proved by nothing before a seal covers it", async () => {
    const found = await cli.json("explain", slug);
    expect(found).toMatchObject({ ...EXPLAINED(), verdict: "unsealed", seals: { sealed: 0, unsealed: 5 } });
    expect(found.sentence).toMatch(/^Nothing is proved: no seal covers its 5 events yet/);
  });

  it("says who made it, what was changed by whom, its clicks, withdrawals and seals, by any of its names", async () => {
    await cli.json("audit", "seal");
    for (const name of [slug, `localhost/${slug}`, `${service.config.baseUrl}/${slug}`]) {
      const found = await cli.json("explain", name);
      expect(found).toMatchObject({ ...EXPLAINED(), verdict: "sealed", seals: { numbers: [0], sealed: 5 } });
      expect(found.sentence).toMatch(/its 5 events lie under seal 0, which verifying the log checks; 4 hits/);
      const steps = found.history.map(({ type, by }: Record<string, string>) => `${type} by ${by}`);
      expect(steps).toEqual([
        ...["LinkCreated", "LinkRetargeted", "LinkDisabled", "LinkEnabled"].map(
          (type) => `${type} by ${owner.email}`,
        ),
        "ClicksWithdrawn by the operator of this service",
      ]);
      expect(found.history[1].detail).toEqual({
        from: "https://example.com/spring",
        to: "https://example.com/summer",
      });
    }
    expect(await cli.json("explain", slug, "--verify")).toMatchObject({
      ...{ verdict: "proved", clicks: { total: 4, recounted: true }, seals: { recomputed: true } },
      sentence: expect.stringMatching(
        /^Proved: its 5 events are as they were sealed by seal 0; 4 hits .* counted again/,
      ),
    });
    expect(await cli.refused("explain", "no-such-link")).toContain("There is no link localhost/no-such-link");
  });

  it("reads for people as a story that ends with the verdict", async () => {
    const { stdout } = await cli.linkledger(["explain", slug]);
    expect(stdout).toMatch(new RegExp(`^Owner +${owner.email}$`, "m"));
    expect(stdout).toMatch(
      /person-1@example.com changed the destination from https:\/\/example.com\/spring to .*summer\. \(LinkRetargeted at position \d+\)/,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(
      /^Nothing wrong was seen, and nothing was verified just now/,
    );
  });

  it("says how many of a link's events no seal covers yet, in a sentence without contradiction", async () => {
    await cli.json("link", "block", slug, "--reason", "a report");
    const found = await cli.json("explain", slug);
    expect(found).toMatchObject({ status: "blocked", seals: { sealed: 5, unsealed: 1 } });
    expect(found.sentence).toMatch(
      /: 5 of its 6 events lie under seal 0, which verifying the log checks, and no seal covers the other 1 yet; /,
    );
    await cli.json("link", "unblock", slug);
  });

  it("is the same in the console, as a page and as JSON", async () => {
    expect(await operatorOf(service).get("/explain", { link: slug })).toMatchObject(EXPLAINED());
    const operator = visitor(service.port);
    await operator.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    const text = decoded((await operator.get(`/admin/explain?link=${slug}`)).text);
    for (const shown of [
      "Sealed; not verified just now",
      owner.email,
      "LinkRetargeted",
      "a test click",
      "1 seal: 0",
    ])
      expect(text).toContain(shown);
    expect((await operator.get("/admin/events")).text).toContain('href="/admin/explain"');
    expect((await operator.get("/admin/explain?link=other")).text).toContain("There is no link");
  });

  it("is shown to its owner from the link's history, without others' data, and to nobody else", async () => {
    expect((await owner.get(path)).text).toContain(`href="${path}/explain"`);
    const { status, text } = await owner.get(`${path}/explain`);
    expect(status).toBe(200);
    for (const shown of [
      "LinkRetargeted",
      "You changed the destination",
      "The operator of this service took hits",
      "seal 0",
    ])
      expect(decoded(text)).toContain(shown);
    expect(text).not.toContain(stranger.email);
    expect(text).not.toContain("/admin");
    expect((await stranger.get(`${path}/explain`)).status).toBe(404);
  });

  it("says which options were set, changed and cleared, as the command that shows the link does", async () => {
    const made = await owner.post("/portal/links", {
      url: "https://example.com/",
      title: "First",
      tags: "a, b",
    });
    const page = String(made.headers.location);
    await owner.post(`${page}/edit`, { title: "Second", tags: "" });
    const name = page.split("/").at(-1) as string;
    const { history } = await cli.json("explain", name);
    expect(history[0].detail).toMatchObject({ title: "First", tags: ["a", "b"] });
    expect(history[1].detail).toEqual({ title: "Second", cleared: ["tags"] });
    expect((await cli.linkledger(["explain", name])).stdout).toContain(
      `${owner.email} changed the title from “First” to “Second”; removed the tags “a”, “b”.`,
    );
    const shown = await cli.json("link", "show", name);
    expect(shown.history[1].changes).toEqual({
      title: { from: "First", to: "Second" },
      tags: { from: ["a", "b"], to: null },
    });
  });

  it("names a destination that was forged, a change that was removed, and clicks that are gone", async () => {
    await service.stop();
    const { dataDir, baseHost } = service.config;
    const forged = async (copy: string, sql: string) => {
      const place = join(folder.path, copy);
      await cp(dataDir, place, { recursive: true });
      const db = new DatabaseSync(join(place, "events.db"));
      db.exec(sql);
      db.close();
      return place;
    };
    const problems = async (copy: string, sql: string, options: { verify: boolean }) => {
      const backend = await openBackend({ dataDir: await forged(copy, sql) }, { readOnly: true });
      const deps = { ...runtimeDeps, ...backend, baseHost, sealKeys: [sealKey] };
      const explained = explainLink(deps, { host: baseHost, slug }, options);
      return (await explained.finally(() => backend.close())).problems;
    };
    const of = `WHERE stream = 'link-localhost/${slug}'`;
    const edit = `UPDATE appends SET body = replace(body, 'summer', 'winter') ${of}`;
    const changed = [
      `revision 1 of link-localhost/${slug} was changed`,
      "what lies under seal 0 is not what was sealed",
    ];
    const again = await startTestService({ DATA_DIR: await forged("edited", edit) });
    const command = ["explain", slug, "--verify", "--json"];
    const { code, stdout } = await commandLine(again.config.dataDir).linkledger(command);
    await again.stop();
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { verdict: "problem", problems: changed }]);
    // In a table of its own, whose category is what somebody wrote: read by streams, and not by categories.
    const foreign = `ALTER TABLE appends RENAME TO old; CREATE TABLE appends AS SELECT * FROM old; DROP TABLE old;
      UPDATE appends SET category = 'other' ${of} AND revision = 1`;
    expect(await problems("foreign", foreign, { verify: true })).toContainEqual(
      expect.stringContaining("the table appends is another one"),
    );
    const removed = `DELETE FROM appends ${of} AND revision = 2`;
    expect(await problems("removed", removed, { verify: false })).toEqual([
      `revision 2 of link-localhost/${slug} is missing`,
    ]);
    const gone = "DELETE FROM appends WHERE category = 'clicks'";
    expect(await problems("clicks", gone, { verify: true })).toContain(
      "3 hits of kind click are counted, by the log 0",
    );
  });
});
