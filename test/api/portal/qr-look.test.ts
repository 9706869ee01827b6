// How an account's QR codes look, over real HTTP and without scripts: shown as chosen, kept by events, drawn where `look=account`
// asks for it, in every format; and what nobody could scan is refused beside what was typed.
import { inflateSync } from "node:zlib";
import jsqr from "jsqr";
import { PNG } from "pngjs";
import { beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, peopledService } from "../../support/portal/portal-people.ts";
import { commandLine } from "../../support/service/command-line.ts";

const STYLE = { dark: "#1a4b8c", light: "#ffffff", shape: "rounded", frame: "Scan me", margin: "4" };

const { service, people } = peopledService();
let owner: Person;
let path: string;
let slug: string;

beforeAll(async () => {
  owner = await people.person();
  path = await people.shorten(owner, "https://example.com/");
  slug = path.split("/").at(-1) ?? "";
});

async function image(query: string): Promise<{ etag: string | null; bytes: Buffer }> {
  const { headers, ...answer } = await fetch(`http://127.0.0.1:${service.port}/api/qr/${slug}?${query}`).then(
    async (got) => ({ headers: got.headers, bytes: Buffer.from(await got.arrayBuffer()) }),
  );
  return { etag: headers.get("etag"), bytes: answer.bytes };
}

const submit = (fields: Record<string, string>, below = "/qr") => owner.submit(path, fields, path + below);

describe("how an account's QR codes look", { timeout: 60_000 }, () => {
  it("is shown as it is chosen, and nothing is kept", async () => {
    const before = (await image("look=account")).etag;
    const page = decoded((await submit(STYLE, "/qr/show")).text);
    const [, svg = ""] = /src="data:image\/svg\+xml;base64,([^"]+)"/.exec(page) ?? [];
    expect(Buffer.from(svg, "base64").toString()).toContain("rgb(26,75,140)");
    expect(page).toContain('value="Scan me"');
    expect(page).toMatch(/href="\/api\/qr\/[^"]*frame=Scan\+me[^"]*format=pdf/);
    expect((await image("look=account")).etag).toBe(before);
  });

  it.each<[string, Partial<typeof STYLE>, string]>([
    ["pale", { dark: "#dddddd" }, "contrast of 3 : 1"],
    ["no colour", { dark: "red" }, "must be a hex colour"],
    ["of no margin", { margin: "" }, "It "],
  ])("that is %s is refused, shown or kept, and what was typed stays", async (_, wrong, why) => {
    for (const below of ["/qr", "/qr/show"]) {
      const refused = await submit({ ...STYLE, ...wrong }, below);
      const [name = "", value = ""] = Object.entries(wrong)[0] ?? [];
      expect([refused.status, decoded(refused.text)]).toEqual([400, expect.stringContaining(why)]);
      expect(decoded(refused.text)).toMatch(new RegExp(`name="${name}"[^>]*value="${value}"`));
    }
    expect((await image("look=account")).etag).toBe((await image("")).etag);
  });

  it("is kept for all of its codes, which scan; what a request names comes first", async () => {
    expect((await submit(STYLE)).text).toContain("All your QR codes look so from now on.");
    const { width, height, data } = PNG.sync.read((await image("look=account")).bytes);
    expect(height).toBeGreaterThan(width);
    expect(jsqr.default(new Uint8ClampedArray(data), width, height)?.data).toBe(
      `http://localhost/${slug}?qr=1`,
    );
    expect((await image("look=account&frame=&shape=square&dark=000000")).etag).toBe((await image("")).etag);
    expect((await image("")).etag).not.toBe((await image("look=account")).etag);
    const cli = commandLine(service.config.dataDir);
    expect(await cli.json("projections", "verify")).toMatchObject({ ok: true, differences: [] });
  });

  it("is the same as PDF: a file whose parts are where it says, of the paths of the SVG", async () => {
    const svg = (await image("look=account&format=svg")).bytes.toString();
    const pdf = (await image("look=account&format=pdf")).bytes.toString("latin1");
    const [, table = ""] = /xref\n\d+ \d+\n([\s\S]*?)trailer/.exec(pdf) ?? [];
    const places = [...table.matchAll(/(\d{10}) 00000 n/g)].map(([, at]) => Number(at));
    for (const [n, at] of places.entries()) expect(pdf.slice(at, at + 7)).toBe(`${n + 1} 0 obj`);
    const [, start] = /startxref\n(\d+)\n%%EOF\n$/.exec(pdf) ?? [];
    expect(pdf.slice(Number(start), Number(start) + 4)).toBe("xref");
    const [, length = "0"] = /\/Length (\d+) >>\nstream\n/.exec(pdf) ?? [];
    const from = pdf.indexOf("stream\n") + 7;
    const content = inflateSync(Buffer.from(pdf.slice(from, from + Number(length)), "latin1")).toString();
    const points = (text: string) => text.match(/-?\d+(\.\d+)?/g)?.map(Number);
    const paths = [...svg.matchAll(/ d="(M[^"]*C[^"]*)"/g)].map(([, d = ""]) => points(d));
    const filled = content.split(/ rg /).slice(2).map((part) => points(part.split("f\n")[0] ?? "")); // biome-ignore format: a list
    expect(filled.length).toBe(2);
    expect(filled).toEqual(paths);
  });
});
