// The logo of an account over real HTTP: uploaded by a form without scripts, drawn in its QR codes, kept by events, removed.
import jsqr from "jsqr";
import { PNG } from "pngjs";
import { beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, peopledService } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";

const PATH = "/portal/account/logo";
const RED = [200, 20, 30, 255];

const { service, people } = peopledService();
let owner: Person;
let slug: string;

beforeAll(async () => {
  owner = await people.person();
  slug = (await people.shorten(owner, "https://example.com/")).split("/").at(-1) ?? "";
});

function square(colour: number[]): Buffer {
  const png = new PNG({ width: 80, height: 80 });
  for (let at = 0; at < png.data.length; at += 4) png.data.set(colour, at);
  return PNG.sync.write(png);
}

/** As a browser without scripts sends the form; `body`: instead of one with this file. */
async function upload(file: Uint8Array, more: { headers?: Record<string, string>; body?: string } = {}) {
  const form = new FormData();
  form.set("logo", new Blob([new Uint8Array(file)], { type: "image/png" }), "logo.png");
  const headers = {
    accept: "text/html",
    cookie: owner.cookie(),
    "x-forwarded-for": "203.0.113.9",
    ...more.headers,
  };
  const answer = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
    ...{ method: "POST", redirect: "manual", headers },
    body: more.body ?? form,
  });
  return { status: answer.status, text: decoded(await answer.text()) };
}

async function imageOf(query: string) {
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/qr/${slug}?size=200${query}`);
  const { headers } = answer;
  return {
    etag: headers.get("etag"),
    caching: headers.get("cache-control"),
    bytes: new Uint8Array(await answer.arrayBuffer()),
  };
}

async function middleOf(query: string) {
  const { width, height, data } = PNG.sync.read(Buffer.from((await imageOf(query)).bytes));
  const at = (100 * width + 100) * 4;
  const text = jsqr.default(new Uint8ClampedArray(data), width, height)?.data;
  return { text, pixel: [...data.subarray(at, at + 4)] };
}

describe("an account's logo", { timeout: 60_000 }, () => {
  it("is offered on the page of a link, and changes nothing before there is one", async () => {
    const page = (await owner.get(`/portal/links/localhost/${slug}`)).text;
    expect(page).toContain('href="/portal/account#logo"');
    expect(decoded(page)).not.toContain("Your logo in the middle");
    expect((await imageOf("&logo=true")).etag).toBe((await imageOf("")).etag);
    expect((await service.ask(`/api/qr/${slug}?logo=maybe`)).status).toBe(400);
  });

  it("is in the middle of QR codes that scan once it is uploaded, and kept by its account's events", async () => {
    expect((await upload(square(RED))).status).toBe(303);
    const text = `http://localhost/${slug}?qr=1`;
    expect(await middleOf("&logo=true")).toEqual({ text, pixel: RED });
    expect((await middleOf("")).text).toBe(text);
    expect((await imageOf("&logo=true")).etag).not.toBe((await imageOf("")).etag);
    // The next one is seen at once.
    expect((await imageOf("&logo=true")).caching).toBe("public, no-cache");
    expect((await imageOf("")).caching).toBe("public, max-age=3600");
    const { bytes } = await imageOf("&logo=true&format=svg");
    expect(Buffer.from(bytes).toString()).toContain('href="data:image/png;base64,');
    const page = decoded((await owner.get(`/portal/links/localhost/${slug}`)).text);
    expect(page).toContain("look=account");
    expect(page).toContain("Your logo in the middle");
    expect(await middleOf("&look=account")).toEqual({ text, pixel: RED });
    expect(decoded((await owner.get("/portal/account")).text)).toContain('src="data:image/png;base64,');
  });

  it("is there again when the documents are folded anew", async () => {
    const cli = commandLine(service.config.dataDir);
    expect(await cli.json("projections", "verify")).toMatchObject({ ok: true, differences: [] });
    await cli.json("projections", "rebuild", "lifecycle");
    await until("the logo", async () => (await middleOf("&logo=true")).pixel.join() === RED.join());
  });

  const boundary = "----form12345678901234567890";
  const multipart = { "content-type": `multipart/form-data; boundary=${boundary}` };
  it.each<[string, Parameters<typeof upload>, string]>([
    ["an empty file", [new Uint8Array()], "Choose a PNG image first"],
    ["SVG", [Buffer.from("<svg onload='alert(1)'/>")], "must be a PNG image"],
    ["a file cut off", [square(RED).subarray(0, 50)], "no PNG image that can be read"],
    [
      "a text instead of a file",
      [
        square(RED),
        {
          headers: multipart,
          body: `--${boundary}\r\nContent-Disposition: form-data; name="logo"\r\n\r\ntext\r\n--${boundary}--\r\n`,
        },
      ],
      "Choose a PNG image first",
    ],
    ["no parts", [square(RED), { headers: multipart, body: "nothing" }], "could not be read"],
    [
      "no boundary",
      [square(RED), { headers: { "content-type": "multipart/form-data" }, body: "x" }],
      "could not be read",
    ],
    [
      "a form of another kind",
      [square(RED), { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "logo=x" }],
      "",
    ],
    ["too large a file", [Buffer.concat([square(RED), Buffer.alloc(66_000)])], "64 KB"],
    ["far too large a file", [Buffer.alloc(300_000)], ""],
  ])("stays as it is for %s, and the page says why", async (_, given, why) => {
    const refused = await upload(...given);
    expect([refused.status, /id="logo-error">.*|role="alert".*/.exec(refused.text)?.[0]]).toEqual([
      400,
      expect.stringContaining(why),
    ]);
    expect((await middleOf("&logo=true")).pixel).toEqual(RED);
  });

  it("is not taken from another site's form, nor from who is not signed in", async () => {
    const blue = square([0, 0, 255, 255]);
    expect((await upload(blue, { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    expect((await upload(blue, { headers: { cookie: "" } })).status).toBe(303);
    expect((await middleOf("&logo=true")).pixel).toEqual(RED);
  });

  it("is in no QR code once it is removed", async () => {
    const page = await owner.submit("/portal/account", {}, `${PATH}/remove`);
    expect(page.text).toContain("Your logo is removed.");
    expect((await imageOf("&logo=true")).etag).toBe((await imageOf("")).etag);
  });

  it("can be set twenty times, as each is kept for ever", async () => {
    for (let n = 1; n < 20; n++) expect((await upload(square([n, n, n, 255]))).status).toBe(303);
    const full = await upload(square(RED));
    expect([full.status, full.text.includes("This account has had 20 logos")]).toEqual([409, true]);
    expect((await owner.submit("/portal/account", {}, `${PATH}/remove`)).text).toContain(
      "Your logo is removed.",
    );
  });
});
