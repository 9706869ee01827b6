// Documents name settings, events, codes of errors and commands that there are, and say numbers as the code has them.
// Commands in blocks, metrics and addresses of the API: test/api/docs.
import { readdirSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { BLOCK_EVENTS } from "../../../src/audit/seals/seal.ts";
import { runCommandLine } from "../../../src/cli/command-line.ts";
import { DEFAULT_OVERLAP_HOURS } from "../../../src/commands/account/change-keys.ts";
import { MEMBER_INVITATION_MS } from "../../../src/commands/account/invitations.ts";
import { MAX_URL_LENGTH } from "../../../src/commands/links/accept-url.ts";
import { RETAGGED_AT_A_TIME } from "../../../src/commands/links/tags.ts";
import { INVITATION_MS } from "../../../src/commands/people/one-time-tokens.ts";
import { SETTINGS } from "../../../src/config/settings.ts";
import { catalogue } from "../../../src/events/catalogue.ts";
import { STREAM_LIMITS } from "../../../src/events/vocabulary.ts";
import { MOST_EXPORTS } from "../../../src/limits/exports.ts";
import { MOST_ROWS } from "../../../src/portal/link-list/many-links-page.ts";
import { MOST_READ } from "../../../src/queries/analytics/counting/count-days.ts";
import { OUTDATED_MS } from "../../../src/queries/documents-behind.ts";
import { MOST_KEPT } from "../../../src/redirect/clicks/recorder.ts";
import { REST_SETTINGS } from "../../../src/webhooks/delivery/failing-receivers.ts";
import { TRY_DELAYS_MS } from "../../../src/webhooks/delivery/schedule.ts";

const root = new URL("../../../", import.meta.url);
const FOLDERS = ["", "docs/", "src/api/docs/guides/", "sdk/"];
/** What changed names the old ones, too. */
const documents = FOLDERS.flatMap((folder) =>
  readdirSync(fileURLToPath(new URL(folder, root)))
    .filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md")
    .map((name) => ({ name: folder + name, text: readFileSync(new URL(folder + name, root), "utf8") })),
);
/** What the documents name, with the document. */
const named = (pattern: RegExp) =>
  documents.flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([, it = ""]) => `${name}: ${it}`));
const unknown = (pattern: RegExp, known: readonly string[]) =>
  named(pattern).filter((found) => !known.includes(found.split(": ")[1] ?? ""));

it("names settings that are read", () => {
  const known = Object.values(SETTINGS).map(({ variable }) => variable as string);
  const others = ["TEST_LONG", "WEBHOOK_KEY", "KURRENTDB_RUN_PROJECTIONS"];
  expect(unknown(/`([A-Z][A-Z0-9]*_[A-Z0-9]+(?:_[A-Z0-9]+)*)(?=[`=])/g, [...known, ...others])).toEqual([]);
});

it("names events that are recorded", () => {
  const others = ["RateLimit", "MaxAppendSize", "LinkledgerError"];
  const known = [...Object.keys(catalogue), ...others];
  expect(unknown(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/g, known)).toEqual([]);
});

/** Words of the source that look so. */
function wordsOfSource(pattern: RegExp): string[] {
  const folder = fileURLToPath(new URL("src/", root));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  return [...new Set(files.flatMap((name) => readFileSync(folder + name, "utf8").match(pattern) ?? []))];
}

it("names codes that are answered", () => {
  const codes = /(?:\b[45]\d\d|\bcode) `([a-z]+(?:_[a-z]+)+)`/g;
  expect(named(codes).length).toBeGreaterThan(5);
  expect(unknown(codes, wordsOfSource(/[a-z]+(?:_[a-z]+)+/g))).toEqual([]);
});

it("names options that commands have", () => {
  const options = /(?<=`[^`\n]*)(--[a-z][a-zA-Z-]+)(?=[^`\n]*`)/g;
  const ofOthers = ["--excludeCollectionsWithPrefix", "--uri", "--gzip", "--archive", "--eval", "--help"];
  expect(named(options).length).toBeGreaterThan(20);
  expect(unknown(options, [...wordsOfSource(/--[a-z][a-z-]+/g), ...ofOthers])).toEqual([]);
});

it("names commands that there are", async () => {
  const commands =
    /(?:`(?:bin\/linkledger )?|^bin\/linkledger )((?:account|member|person|key|domain|webhook|link|clicks|projections|audit|log|secrets|export) [a-z][a-z-]*)/gm;
  const words = new Set(named(commands).map((found) => found.split(": ")[1] ?? ""));
  expect(words.size).toBeGreaterThan(25);
  const helpOf = async (command: string) => {
    const stdout = new PassThrough();
    const ignored = () => {};
    const terminal = { env: {}, stdout, stderr: stdout, on: ignored, off: ignored, exit: ignored };
    await runCommandLine([...command.split(" "), "--help"], terminal);
    return String(stdout.read());
  };
  const missing: string[] = [];
  for (const command of words)
    if (!(await helpOf(command)).startsWith(`Usage: linkledger ${command}`)) missing.push(command);
  expect(missing).toEqual([]);
});

const number = (value: number) => value.toLocaleString("en");
const HOUR_MS = 3_600_000;
const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const inWords = (value: number) => WORDS[value] ?? number(value);
const waits = TRY_DELAYS_MS.map((ms) =>
  ms === 0
    ? "0"
    : ms < 60_000
      ? `${ms / 1_000} s`
      : ms < HOUR_MS
        ? `${ms / 60_000} min`
        : `${ms / HOUR_MS} h`,
);

it.each([
  ["docs/api.md", `a destination ${number(MAX_URL_LENGTH)} characters`],
  ["docs/api.md", `${number(RETAGGED_AT_A_TIME)} links a request`],
  ["docs/api.md", `accepted for ${DEFAULT_OVERLAP_HOURS} hours more`],
  ["docs/api.md", `more than ${inWords(OUTDATED_MS / 1_000)} seconds behind`],
  ["docs/api.md", `Beyond ${number(MOST_READ)} of them`],
  ["docs/audit.md", `after every ${number(BLOCK_EVENTS)} events`],
  ["docs/import.md", `up to ${number(MOST_ROWS)} rows`],
  ["docs/operations.md", `up to ${number(MOST_KEPT)} clicks in memory`],
  ["docs/people.md", `works for ${inWords(MEMBER_INVITATION_MS / (24 * HOUR_MS))} days`],
  ["docs/privacy.md", `invitations ${inWords(INVITATION_MS / (24 * HOUR_MS))} days`],
  ["docs/security.md", `at most ${number(STREAM_LIMITS.keysIssued)} keys`],
  ["docs/security.md", `adds ${number(STREAM_LIMITS.webhooksAdded)} webhooks and domains`],
  [
    "docs/security.md",
    `makes ${number(STREAM_LIMITS.accountEvents)} changes; a link has ${number(STREAM_LIMITS.linkChanges)}`,
  ],
  ["docs/security.md", `${inWords(MOST_EXPORTS)} exports at a time an account`],
  ["docs/webhooks.md", `| after | ${waits.join(" | ")} |`],
  ["docs/webhooks.md", `After ${inWords(REST_SETTINGS.failures)} failures in a row`],
])("%s says “%s”, as the code does", (document, sentence) => {
  expect(documents.find(({ name }) => name === document)?.text).toContain(sentence);
});
