// Whatever is wrong with rows of a file: each is created, there already or failed, and what is created is what its row says.

import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownFiles } from "../../src/cli/files.ts";
import { currentLink } from "../../src/commands/links/link-stream.ts";
import { bitly } from "../../src/transfer/import/formats/bitly.ts";
import { dub } from "../../src/transfer/import/formats/dub.ts";
import { kutt } from "../../src/transfer/import/formats/kutt.ts";
import { linkledger } from "../../src/transfer/import/formats/linkledger.ts";
import { plainCsv } from "../../src/transfer/import/formats/plain-csv.ts";
import { shlink } from "../../src/transfer/import/formats/shlink.ts";
import { yourls } from "../../src/transfer/import/formats/yourls.ts";
import { imported } from "../support/import/importing.ts";
import { type OwnImport, openImport } from "../support/import/own-export.ts";
import { effort } from "../support/runtime/effort.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

/** Columns of the slug, the destination and the title; Kutt has comments. */
const TABLES = {
  bitly: [bitly, ["link", "long_url", "title"]],
  csv: [plainCsv, ["slug", "url", "title"]],
  dub: [dub, ["key", "url", "title"]],
  kutt: [kutt, ["address", "target", "description"]],
  shlink: [shlink, ["Short code", "Long URL", "Title"]],
  yourls: [yourls, ["keyword", "url", "title"]],
} as const;

const ROWS = effort(300, 10_000);
/** How a row is wrong; the most are not. */
const FAULTS = [
  ...["none", "none", "none", "awkward", "awkward", "none", "none", "none"],
  ...["opening", "within", "closing", "more", "fewer", "bytes", "url", "slug", "again", "blank", "deep"],
] as const;
const AWKWARD = ['a "b", c', "two\nlines", "a\\b", "NULL", "x;y|z", "ünï", "a\u2028b", "'", '"'];

let own: OwnImport;
let folder: TemporaryFolder;
beforeAll(async () => {
  [own, folder] = [await openImport(), await temporaryFolder()];
});
afterAll(async () => {
  await own.close();
  await folder.remove();
});

type Format = (typeof TABLES)[keyof typeof TABLES][0] | typeof linkledger;
async function reported(format: Format, content: Buffer) {
  const links = join(folder.path, randomUUID());
  await writeFile(links, content);
  const report = await imported(own.deps, own.accountId, format, ownFiles.source(links));
  const { created, already, failed, read } = report.links;
  expect(created + already + failed).toBe(read);
  return report;
}

type Meant = { slug: string; url: string; title: string };

/** `meant`: of rows that nothing is wrong with. `rows`: how many there are. */
function table(prefix: string, faults: readonly string[], n0: number) {
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  const meant: Meant[] = [];
  let rows = 0;
  const lines = faults.map((fault, n) => {
    const slug = `${prefix}${n}`;
    const url = `https://example.com/${prefix}/${n}`;
    const title = fault === "awkward" ? (AWKWARD[(n + n0) % AWKWARD.length] as string) : `Title ${n}`;
    const [first] = meant;
    if (fault !== "blank") rows += 1;
    switch (fault) {
      case "none":
      case "awkward":
        meant.push({ slug, url, title });
        return Buffer.from([slug, url, title].map(quoted).join());
      case "opening":
        return Buffer.from(`${slug},${url},"Title`);
      case "within":
        return Buffer.from(`${slug},${url},5" title`);
      case "closing":
        return Buffer.from(`${slug},${url},Title"`);
      case "more":
        return Buffer.from(`${slug},${url},a,b`);
      case "fewer":
        return Buffer.from(slug);
      case "bytes":
        return Buffer.concat([Buffer.from(`${slug},${url},Caf`), Buffer.from([0xe9])]);
      case "url":
        return Buffer.from(`${slug},nonsense,`);
      case "slug":
        return Buffer.from(`a b,${url},`);
      case "again":
        return Buffer.from(first ? `${first.slug},${first.url},` : `a b,${url},`);
      case "deep":
        return Buffer.from(`${slug},${"[".repeat(200)},`);
      default:
        return Buffer.from(",,");
    }
  });
  return { lines, meant, rows };
}

async function expectMade(meant: readonly Meant[], inComments: boolean) {
  for (const { slug, url, title } of meant) {
    const link = await currentLink(own.deps.eventStore, { host: "localhost", slug });
    const text =
      title === "NULL" ? title : title.replace(/[\n\u2028]/, inComments && title.includes("\n") ? "\n" : " ");
    const shown = inComments ? { comments: text } : { title: text };
    expect(link).toMatchObject({ status: "live", longUrl: url, ...shown });
  }
}

describe("rows of a table with every kind of fault", { timeout: 600_000 }, () => {
  it.each(Object.entries(TABLES))("are all accounted for: %s", async (name, [format, columns]) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...FAULTS), { minLength: ROWS, maxLength: ROWS, size: "max" }),
        fc.nat(),
        async (faults, n0) => {
          const prefix = `${name}${run++}x`;
          const { lines, meant, rows } = table(prefix, faults, n0);
          const end = Buffer.from("\r\n");
          const content = [Buffer.from(columns.join()), ...lines].flatMap((line) => [line, end]);
          const { links, errors } = await reported(format, Buffer.concat(content));
          expect(links.read).toBe(rows);
          expect(links.created).toBe(meant.length);
          // Lines that can't be told apart are named in one.
          expect(errors.length).toBeLessThanOrEqual(links.failed);
          await expectMade(meant, format === kutt);
        },
      ),
      { numRuns: 2, endOnFailure: true },
    );
  });

  it("are all accounted for: lines of our own export", async () => {
    const line = (slug: string, more: object = {}) =>
      JSON.stringify({
        ...{ type: "link", domain: null, slug, long_url: "https://example.com/", status: "live" },
        ...{
          created_at: "2024-03-01T10:00:00Z",
          via: "web",
          custom: true,
          options: {},
          changes: [],
          ...more,
        },
      });
    const faults = [
      (slug: string) => line(slug),
      () => '{"type":"link"',
      () => "null",
      (slug: string) => line(slug, { options: { hue: 1 } }),
      (slug: string) => line(slug, { long_url: "nonsense" }),
      (slug: string) => line(slug, { options: { rules: JSON.parse(`${"[".repeat(99)}${"]".repeat(99)}`) } }),
      () => `{"type":"link","options":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    ];
    const lines = Array.from({ length: 70 }, (_, n) =>
      (faults[n % faults.length] as (slug: string) => string)(`own${n}`),
    );
    const { links } = await reported(linkledger, Buffer.from(lines.join("\n")));
    expect(links).toMatchObject({ read: 70, created: 10, failed: 60 });
  });
});
