// Which URLs, slugs and hostnames are accepted and which are refused.
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acceptHostname } from "../../../src/commands/domains/hostname.ts";
import { type AcceptUrlDeps, acceptUrl } from "../../../src/commands/links/accept-url.ts";
import { SLUG_ALPHABET, slugFrom } from "../../../src/commands/links/slug.ts";
import { urlSafety } from "../../../src/commands/links/url-safety.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const local: AcceptUrlDeps = {
  baseUrl: "http://localhost:3000",
  baseHost: "localhost",
  urlSafety: async () => ["safe"],
};
const hosted: AcceptUrlDeps = { ...local, baseUrl: "https://lnk.example", baseHost: "lnk.example" };
const none: string[] = [];

describe("a URL to shorten", () => {
  it.each([
    ["https://example.com", "https://example.com"],
    ["HTTP://Example.COM/Path?q=%20#x", "HTTP://Example.COM/Path?q=%20#x"],
    ["https://exämple.de/ü?ä=1", "https://xn--exmple-cua.de/%C3%BC?%C3%A4=1"],
    ["https://例え.jp/", "https://xn--r8jz45g.jp/"],
    ["http://[2001:db8::1]:8080/a", "http://[2001:db8::1]:8080/a"],
    ["http:\\\\example.com\\a", "http://example.com/a"],
    ["http:example.com", "http://example.com/"],
    ["http://localhost:8080/other-service", "http://localhost:8080/other-service"],
    ["https://web.archive.org/web/https://example.com", "https://web.archive.org/web/https://example.com"],
    ["http://https.example/", "http://https.example/"],
    ["https://http:8080/", "https://http:8080/"],
    ["http://https/wiki", "http://https/wiki"],
    ["https://example.com/\u202eevil", "https://example.com/%E2%80%AEevil"],
  ])("%j is kept as %j", async (given, kept) => {
    expect((await acceptUrl(local, given, none)).longUrl).toBe(kept);
  });

  it.each([
    "",
    "not a url",
    "example.com",
    "//evil.example",
    "/path",
    "http://",
    "https://?q",
    "javascript:alert(1)",
    "data:text/html,hi",
    "ftp://example.com/",
    "file:///etc/passwd",
    "mailto:a@example.com",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    " https://example.com",
    "https://example.com ",
    "https://example.com/a b",
    "https://exa\tmple.com/",
    "https://example.com/\r\nSet-Cookie: a=b",
    "https://example.com/\0",
    "https://example.com/\u0085x",
    "https://example.com/\u2028x",
    "https://example.com/\ud800",
    "https://exa mple.com",
    "https://[::1/",
    "https://example.com:99999/",
    `https://example.com/${"a".repeat(8192 - 19)}`,
    `https://example.com/${"a".repeat(100_000)}`,
    `https://example.com/${"ä".repeat(1400)}`,
    "http://localhost:3000/abc",
    "http://LOCALHOST.:3000/abc",
    "http://127.0.0.1:3000/",
    "http://127.1:3000/",
    "http://0x7f000001:3000/",
    "http://[::1]:3000/",
    "http://[::ffff:127.0.0.1]:3000/",
    "http://sub.localhost:3000/",
  ])("%j is refused", async (given) => {
    await expect(acceptUrl(local, given, none)).rejects.toMatchObject({ code: "invalid_url" });
    await expect(acceptUrl(local, given, none)).rejects.toThrow(/valid HTTP\/HTTPS URL/);
  });

  it.each([
    "http://https://example.com",
    "https://http//example.com",
    "http://http://https://example.com/a",
    "HTTP:\\\\HTTPS:\\\\example.com",
    "https:http://example.com",
    "http://https:/example.com",
  ])("%j is refused, with the reason that its scheme is doubled", async (given) => {
    await expect(acceptUrl(local, given, none)).rejects.toMatchObject({
      code: "invalid_url",
      message: expect.stringMatching(
        /valid HTTP\/HTTPS URL \(it begins with two schemes, https? and https?\)/i,
      ),
    });
  });

  it("at the limit of 8,192 characters is kept", async () => {
    const url = `https://example.com/${"a".repeat(8192 - 20)}`;
    expect((await acceptUrl(local, url, none)).longUrl).toBe(url);
  });

  it.each(["https://lnk.example/x", "http://LNK.example./x", "https://lnk.example:8443/"])(
    "%j is refused as the service itself",
    async (given) => {
      await expect(acceptUrl(hosted, given, none)).rejects.toMatchObject({ code: "invalid_url" });
    },
  );

  it("on the caller's own domain is refused as a loop", async () => {
    const own = ["go.example.com"];
    await expect(acceptUrl(hosted, "https://go.example.com/x", own)).rejects.toMatchObject({
      code: "invalid_url",
    });
    const kept = { longUrl: "https://www.example.com/x", isChecked: true };
    expect(await acceptUrl(hosted, kept.longUrl, own)).toEqual(kept);
  });
});

describe("an unsafe URL", () => {
  const log = { warn: () => undefined };
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  it("is refused by the hosts file, which is read again when it changes", async () => {
    const file = join(folder.path, "hosts");
    await writeFile(
      file,
      "# comment\n127.0.0.1 localhost\n0.0.0.0 bad.example worse.example # why\nplain.example\n*.wild.example\n",
    );
    const safety = urlSafety({ unsafeHostsFile: file, log });
    const check = async (url: string) => (await safety([new URL(url)]))[0];
    for (const url of ["http://bad.example/x", "http://A.Worse.example./", "https://plain.example:8443/"])
      expect(await check(url)).toBe("unsafe");
    for (const url of ["http://a.wild.example/", "http://wild.example/"])
      expect(await check(url)).toBe("unsafe");
    for (const url of ["http://notbad.example/", "http://example/", "http://localhost:1/"])
      expect(await check(url)).toBe("safe");
    await writeFile(file, "next.example\n");
    expect(await check("http://next.example/")).toBe("unsafe");
    expect(await check("http://bad.example/")).toBe("safe");
    await expect(
      acceptUrl({ ...local, urlSafety: safety }, "http://next.example/", none),
    ).rejects.toMatchObject({ code: "unsafe_url" });
  });

  it("is refused by the remote check, and accepted unchecked when that is unavailable", async () => {
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const [{ url }] = JSON.parse(body).threatInfo.threatEntries;
        response.end(JSON.stringify(url.includes("bad") ? { matches: [{ threatType: "MALWARE" }] } : {}));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const safeBrowsingUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/find`;
    const safety = urlSafety({ safeBrowsingKey: "k", safeBrowsingUrl, log });
    expect(await safety([new URL("http://bad.example/")])).toEqual(["unsafe"]);
    expect(await safety([new URL("http://good.example/")])).toEqual(["safe"]);
    // A match that names none of several URLs leaves each of them unchecked.
    const both = ["http://bad.example/", "http://good.example/"].map((url) => new URL(url));
    expect(await safety(both)).toEqual(["unknown", "unknown"]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const unchecked = { longUrl: "http://bad.example/", isChecked: false };
    expect(await acceptUrl({ ...local, urlSafety: safety }, unchecked.longUrl, none)).toEqual(unchecked);
  });
});

describe("a slug", () => {
  it("made at random has 7 unambiguous letters and is never a reserved word", () => {
    const of = (word: string) =>
      slugFrom(Uint8Array.from([...word].map((letter) => SLUG_ALPHABET.indexOf(letter))));
    expect(of("abc2345")).toBe("abc2345");
    expect(of("support")).toBeUndefined();
    expect(SLUG_ALPHABET).not.toMatch(/[01loi]/);
    expect(slugFrom(Uint8Array.from([255, 254]))).toBeUndefined();
  });
});

describe("the hostname of a custom domain", () => {
  it.each([
    ["go.example.com", "go.example.com"],
    ["GO.Example.com.", "go.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["links.example.co.uk", "links.example.co.uk"],
  ])("%j becomes %j", (given, hostname) => {
    expect(acceptHostname(given, "lnk.service.example")).toBe(hostname);
  });

  it.each([
    "",
    "localhost",
    "com",
    "co.uk",
    "github.io",
    "1.2.3.4",
    "[::1]",
    "https://go.example.com/page",
    "go.example.com/launch",
    "go.example.com\\launch",
    "go.example.com?launch",
    "go.example.com#launch",
    "a_b.example.com",
    "-a.example.com",
    "a..example.com",
    `${"a".repeat(64)}.example.com`,
    "lnk.service.example",
    "service.example",
  ])("%j is refused", (given) => {
    expect(() => acceptHostname(given, "lnk.service.example")).toThrow(
      expect.objectContaining({ code: "invalid_hostname" }),
    );
  });
});
