// Trains the zstd dictionary of clicks from appends of many links and visitors; a log keeps it beside its rows, so run it
// for a dictionary with the next number only: `node bench/log/make-dictionary.ts FILE`, with `zstd` installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newEvent } from "../../src/events/new-event.ts";
import { clickReader } from "../../src/redirect/clicks/click-event.ts";
import { openGeo } from "../../src/redirect/clicks/enrich/geo.ts";
import { packTarget } from "../../src/redirect/clicks/hit.ts";
import { visitorCodes } from "../../src/redirect/clicks/visitors/visitor.ts";
import { numberedIds } from "../../src/runtime/time-ordered-id.ts";
import { randomNumbers } from "../traffic/draw.ts";
import { visitors } from "../traffic/visitors.ts";

const SAMPLES = 4_000;
const BYTES = 16 * 1024;
const SITES = [
  "www.example.com/blog/",
  "shop.example.org/products/",
  "example.net/?p=",
  "docs.example.dev/en/guide/",
];
const SOURCES = ["newsletter", "twitter", "linkedin", "facebook", "google"];

const [file] = process.argv.slice(2);
if (!file) throw new Error("give the file to write");
const random = randomNumbers(7);
const hex = (digits: number) =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
const from = visitors();
const clickOf = clickReader(openGeo(undefined));
const folder = mkdtempSync(join(tmpdir(), "dictionary-"));
for (let sample = 0; sample < SAMPLES; sample++) {
  const codes = visitorCodes(Buffer.from(hex(64), "hex"));
  const idOf = numberedIds(hex(16));
  const at = Date.UTC(2026, 0, 1) + Math.floor(random() * 4 * 365 * 86_400_000);
  const site = SITES[Math.floor(random() * SITES.length)];
  const tag = `?utm_source=${SOURCES[Math.floor(random() * SOURCES.length)]}&utm_medium=email&utm_campaign=spring`;
  const link = packTarget({
    key: `${random() < 0.5 ? "localhost" : `lnk.${hex(6)}.com`}/${hex(7)}`,
    revision: Math.floor(random() * 3),
    longUrl: `https://${site}${hex(12)}${random() < 0.3 ? tag : ""}`,
    accountId: `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    via: random() < 0.8 ? "api" : "web",
  });
  // Mostly alone, as a dictionary is worth most where a body has nothing to repeat.
  const events = Array.from({ length: random() < 0.8 ? 1 : 3 }, (_, n) => {
    const visitor = from[Math.floor(random() * from.length)];
    if (!visitor) throw new Error("there is no visitor");
    const query = random() < 0.1 ? "qr=1" : "";
    const click = clickOf({ ...visitor, link, at, method: "GET", query, prefetch: "" }, codes);
    return newEvent(click, idOf(at, sample + n));
  });
  writeFileSync(join(folder, `${sample}.json`), JSON.stringify(events));
}
const samples = readdirSync(folder).map((name) => join(folder, name));
const trained = spawnSync("zstd", ["--train", "-q", ...samples, `--maxdict=${BYTES}`, "-o", file, "-f"], {
  stdio: "inherit",
});
rmSync(folder, { recursive: true });
process.exitCode = trained.status ?? 1;
