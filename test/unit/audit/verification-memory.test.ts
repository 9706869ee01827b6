// What verification keeps of each link is small, whatever the link carries: a million of them fit into a process.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/** Their addresses alone are 200 MB. */
const LINKS = 50_000;
const HEAP_MB = 64;

const SCRIPT = `
  import { eventChecks } from "./src/audit/event-checks.ts";
  const checks = eventChecks();
  const problems = [];
  const [accountId, keyId] = ["018f3a5e-0000-7000-8000-000000000001", "018f3a5e-0000-7000-8000-000000000002"];
  const add = (position, stream, revision, type, data, actor) =>
    checks.all(
      {
        id: "018f3a5e-0000-7000-8000-" + String(position).padStart(12, "0"),
        type,
        stream,
        revision,
        position: String(position).padStart(20, "0"),
        recordedAt: "2026-03-01T00:00:00.000Z",
        data: JSON.stringify({ at: "2026-03-01T00:00:00.000Z", accountId, host: "sho.rt", ...data }),
        metadata: JSON.stringify({ schemaVersion: 1, correlationId: "r", causationId: "r", actor }),
      },
      (check, message) => problems.push(check + ": " + message),
    );
  const LONG = "x".repeat(4_000);
  const actor = { type: "person", id: accountId };
  let position = 1;
  for (let n = 0; n < ${LINKS}; n++) {
    const [stream, slug] = ["link-sho.rt/s" + n, "s" + n];
    const longUrl = "https://example.com/" + n + "?" + LONG;
    const more = { shortUrl: "https://sho.rt/" + slug, keyId, via: "api", custom: false };
    add(position++, stream, 0, "LinkCreated", { slug, longUrl, ...more }, actor);
    // Still told from each other.
    if (n % 1_000 === 0) add(position++, stream, 1, "LinkRetargeted", { slug, from: longUrl, to: longUrl + "2" }, actor);
    if (n % 10_000 === 0) add(position++, stream, 2, "LinkRetargeted", { slug, from: longUrl, to: longUrl }, actor);
  }
  console.log(JSON.stringify([...new Set(problems)]), problems.length);
`;

it("holds 50,000 links of 4 KB in a heap of 64 MB", { timeout: 120_000 }, () => {
  const child = spawnSync(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, "--input-type=module-typescript", "-e", SCRIPT],
    { encoding: "utf8" },
  );
  expect(child.stderr).toBe("");
  expect(child.stdout).toBe('["rule: LinkRetargeted: retargeted from where it did not lead"] 5\n');
});
