// Each field of a link through its life by the API, alone and in bulk: set, changed, cleared, and refused by its name.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIELD_NAMES } from "../../src/commands/links/link-fields.ts";
import { FIELD_CASES } from "../support/service/link-field-cases.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const url = "https://example.com/fields";
type Link = { slug: string; error: string } & Record<string, unknown>;
type Bulk = { results: Link[]; errors: { error: string }[] };

let service: TestService;
let member: Member;
beforeAll(async () => {
  service = await startTestService();
  member = await service.member("developer");
});
afterAll(() => service.stop());

const shorten = (more: object) => service.post<Link>("/api/v1/shorten", member.key, { url, ...more });
const inBulk = async (method: string, path: string, item: object) =>
  (await service.ask<Bulk>(path, { method, key: member.key, body: { links: [item] } })).body;
const patch = (slug: string, body: object) =>
  service.ask<Link>(`/api/v1/links/${slug}`, { method: "PATCH", key: member.key, body });
const read = async (slug: string) =>
  (await service.ask<Link>(`/api/v1/links/${slug}`, { key: member.key })).body;

it("every field has a case", () => {
  expect(FIELD_CASES.map(({ field }) => field)).toEqual(FIELD_NAMES);
});

describe.each(FIELD_CASES)("$field", ({ field, member: name = field, values, shown = values, bad }) => {
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
});
