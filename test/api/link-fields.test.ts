// Each field of a link through its life: set, changed, cleared and refused by its name, by the API, in bulk, in the portal and
// by an import; kept by a rebuild.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIELD_NAMES } from "../../src/commands/links/fields/link-fields.ts";
import { decoded } from "../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { commandLine } from "../support/service/command-line.ts";
import { FIELD_CASES } from "../support/service/link-field-cases.ts";
import { onCluster, startTestService, type TestService } from "../support/service/start-service.ts";

const url = "https://example.com/fields";
type Link = { slug: string; error: string } & Record<string, unknown>;
type Bulk = { results: Link[]; errors: { error: string }[] };

let folder: TemporaryFolder;
let service: TestService;
let people: ReturnType<typeof portalPeople>;
let owner: Person;
let member: { key: string };

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  people = portalPeople(service);
  owner = await people.developer();
  member = await service.issueKey(owner.accountId);
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const shorten = (more: object) => service.post<Link>("/api/v1/shorten", member.key, { url, ...more });
const inBulk = async (method: string, path: string, item: object) =>
  (await service.ask<Bulk>(path, { method, key: member.key, body: { links: [item] } })).body;
const patch = (slug: string, body: object) =>
  service.ask<Link>(`/api/v1/links/${slug}`, { method: "PATCH", key: member.key, body });
const read = async (slug: string) =>
  (await service.ask<Link>(`/api/v1/links/${slug}`, { key: member.key })).body;
/** Each test has its own links: an external id is that of one, and a key may ask a number of times an hour. */
const clear = (slug: string) => patch(slug, { external_id: null });
const cliOf = (one: TestService) => commandLine(one.config.dataDir);

it("every field has a case", () => {
  expect(FIELD_CASES.map(({ field }) => field)).toEqual(FIELD_NAMES);
});

describe.each(FIELD_CASES)("$field", (one) => {
  const { field, member: name = field, values, shown = values, bad, typed, words, emptied } = one;

  it("is set, changed and cleared, and each answer says so", async () => {
    const made = await shorten({ [field]: values[0] });
    expect([made.status, made.body[name]]).toEqual([201, shown[0]]);
    const { slug } = made.body;
    expect((await read(slug))[name]).toEqual(shown[0]);
    const changed = await patch(slug, { [field]: values[1] });
    expect([changed.status, changed.body[name]]).toEqual([200, shown[1]]);
    expect((await read(slug))[name]).toEqual(shown[1]);
    const cleared = await patch(slug, { [field]: null });
    expect([cleared.status, name in cleared.body]).toEqual([200, false]);
    expect(name in (await read(slug))).toBe(false);
    const { body } = await service.ask<{ history: { changes: Record<string, object> }[] }>(
      `/api/v1/links/${slug}/history`,
      { key: member.key },
    );
    const isSame = JSON.stringify(values[0]) === JSON.stringify(values[1]);
    expect(body.history.map(({ changes }) => changes[name])).toEqual([
      { from: shown[1], to: null },
      ...(isSame ? [] : [{ from: shown[0], to: shown[1] }]),
      { from: null, to: shown[0] },
    ]);
  });

  it("is set, changed and cleared in bulk", async () => {
    const made = await inBulk("POST", "/api/v1/shorten/bulk", { url, [field]: values[0] });
    expect(made.results[0]?.[name]).toEqual(shown[0]);
    const slug = made.results[0]?.slug ?? "";
    const change = async (value: unknown) =>
      (await inBulk("PATCH", "/api/v1/links/bulk", { slug, [field]: value })).results[0];
    expect((await change(values[1]))?.[name]).toEqual(shown[1]);
    expect(name in ((await change(null)) ?? { [name]: "refused" })).toBe(false);
    expect(await read(slug)).not.toHaveProperty(name);
  });

  it("is refused by its name where it is wrong, and nothing changes", async () => {
    const { slug } = (await shorten({})).body;
    for (const value of bad) {
      const [one, other] = [await shorten({ [field]: value }), await patch(slug, { [field]: value })];
      for (const { status, body } of [one, other])
        expect([value, status, body.error]).toEqual([value, 400, expect.stringContaining(field)]);
      for (const [method, path] of [
        ["POST", "/api/v1/shorten/bulk"],
        ["PATCH", "/api/v1/links/bulk"],
      ] as const) {
        const named = method === "PATCH" ? { slug } : { url };
        const { errors } = await inBulk(method, path, { ...named, [field]: value });
        expect([value, errors[0]?.error]).toEqual([value, expect.stringContaining(field)]);
      }
    }
    expect((await read(slug)).revision).toBe(0);
  });

  it("is set, changed and cleared in the portal, whose page says so", async () => {
    const path = await people.shorten(owner, url, typed[0]);
    const slug = path.split("/").at(-1) ?? "";
    expect((await read(slug))[name]).toEqual(shown[0]);
    expect(decoded((await owner.get(path)).text)).toContain(words[0]);
    const changed = await owner.submit(path, typed[1], `${path}/edit`);
    expect((await read(slug))[name]).toEqual(shown[1]);
    expect(decoded(changed.text)).toContain(words[1]);
    expect(decoded(changed.text)).toMatch(/(changed|replaced|added|removed) /);
    await owner.submit(path, emptied, `${path}/edit`);
    expect(await read(slug)).not.toHaveProperty(name);
  });

  it.skipIf(onCluster())("comes with an import of a table, and fails there or is shortened", async () => {
    const file = join(folder.path, `${field}.csv`);
    const slugs = ["good", "bad"].map((which) => `${field.replaceAll("_", "-")}-${which}`);
    const cells = [one.cell ?? String(values[0]), one.badCell].map(
      (cell) => `"${cell.replaceAll('"', '""')}"`,
    );
    await writeFile(
      file,
      `url,slug,${field}\n${cells.map((cell, n) => `${url},${slugs[n]},${cell}`).join("\n")}\n`,
    );
    const args = ["import", "csv", file, "--account", owner.accountId, "--json"];
    const { stdout } = await cliOf(service).linkledger(args);
    const report = JSON.parse(stdout);
    expect((await read(slugs[0] ?? ""))[name]).toEqual(shown[0]);
    await clear(slugs[0] ?? "");
    const isShortened = ["title", "comments", "tags"].includes(field);
    expect(report.links).toMatchObject(isShortened ? { created: 2, failed: 0 } : { created: 1, failed: 1 });
    expect(JSON.stringify(isShortened ? report : report.errors)).toContain(field);
  });
});

it.skipIf(onCluster())(
  "an external id is one link's alone in imports too, in the file and beside it",
  async () => {
    await shorten({ external_id: "taken" });
    const file = join(folder.path, "ids.csv");
    const rows = [
      ["one", "new"],
      ["two", "new"],
      ["three", "taken"],
    ].map(([slug, id]) => `${url},id-${slug},${id}`);
    await writeFile(file, `url,slug,external_id\n${rows.join("\n")}\n`);
    for (const dry of [["--dry-run"], []]) {
      const args = ["import", "csv", file, "--account", owner.accountId, "--json", ...dry];
      const report = JSON.parse((await cliOf(service).linkledger(args)).stdout);
      expect(report.links).toMatchObject({ created: 1, failed: 2 });
      expect(JSON.stringify(report.errors)).toMatch(/is that of .*is that of/);
    }
  },
);

describe.skipIf(onCluster())("all fields together", () => {
  type Page = { links: Link[]; total: number };
  const everything = () => Object.fromEntries(FIELD_CASES.map(({ field, values }) => [field, values[0]]));
  const list = async () => {
    const answer = await service.ask<Page>("/api/v1/links?scope=account&limit=100", { key: member.key });
    return answer.body;
  };

  beforeAll(async () => {
    member = await service.issueKey(owner.accountId);
    const { body, status } = await shorten({ ...everything(), title: "Whole" });
    expect([status, body.error]).toEqual([201, undefined]);
    await patch(body.slug, { comments: "Changed", redirect_code: null });
    await shorten({ password: "open sesame" });
  });

  it("are the same after the documents were built anew", async () => {
    const before = await list();
    const whole = before.links.find(({ title }) => title === "Whole");
    expect(whole).toMatchObject({ comments: "Changed", has_password: true, rules: expect.any(Array) });
    const answer = await cliOf(service).json("projections", "rebuild", "lifecycle");
    expect(answer.builds).toHaveLength(1);
    // Within half a second of the switch, the documents before may still be read.
    const states = async () => {
      const { projections } = await cliOf(service).json("projections", "status");
      return projections.map(({ state }: { state: string }) => state);
    };
    await expect.poll(async () => [...new Set(await states())]).toEqual(["current"]);
    expect(await list()).toEqual(before);
  });
});
