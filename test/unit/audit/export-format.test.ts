// The format of exports in docs/audit.md, read by a verifier that shares no code with the service.
import { createHash, createPublicKey, verify } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ExportSelection } from "../../../src/audit/export/export-lines.ts";
import { exportLog } from "../../../src/audit/export/export-log.ts";
import { KEYS, LINK, type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";
import { position } from "../../support/event-store/stored-events.ts";

type Json = { [name: string]: Json } | Json[] | string | number;
type Recorded = Record<string, Json> & { data: Record<string, string> };
type Line = { seal?: Recorded; event?: Recorded; hash?: string; events?: number; unsealed?: true };

const sha256 = (...bytes: Uint8Array[]) => createHash("sha256").update(Buffer.concat(bytes)).digest();

/** RFC 8785, for the values that events have. */
function canonical(value: Json): string {
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] as Json)}`).join(",")}}`;
}

function leafOf(event: Recorded): Buffer {
  const members = ["stream", "revision", "position", "id", "type", "data", "metadata", "recordedAt"];
  return sha256(Buffer.of(0), Buffer.from(canonical(members.map((name) => event[name] as Json))));
}

/** Takes the parts that make up a tree of `size` events. */
function rootOf(parts: Line[], size: number): Buffer {
  if (size === 0) return sha256();
  if ((parts[0]?.events ?? 1) === size) {
    const { event, hash = "" } = parts.shift() as Line;
    return event ? leafOf(event) : Buffer.from(hash, "hex");
  }
  let left = 1;
  while (left * 2 < size) left *= 2;
  return sha256(Buffer.of(1), rootOf(parts, left), rootOf(parts, size - left));
}

function isSigned({ signature = "", ...unsigned }: Recorded["data"]): boolean {
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: String(unsigned.publicKey) },
    format: "jwk",
  });
  const text = Buffer.from(canonical(unsigned));
  return unsigned.publicKey === KEYS.publicKey && verify(null, text, key, Buffer.from(signature, "base64"));
}

let log: OpenSealedLog;

beforeEach(async () => {
  log = await openSealedLog();
  for (const clicks of [11, 7, 1]) {
    await log.click(clicks);
    await log.seal();
  }
  await log.click(2);
});
afterEach(() => log.close());

it.each<[string, ExportSelection]>([
  ["whole", {}],
  ["a range", { from: position(5), to: position(17) }],
  ["a stream", { stream: LINK }],
])("an export is what the guide says: %s", async (_, selection) => {
  const lines: Line[] = JSON.parse(JSON.stringify(await Array.fromAsync(exportLog(log, selection))));
  expect([lines[0], lines.at(-1)]).toEqual([{ export: "linkledger log 1", ...selection }, { end: true }]);
  const starts = lines.flatMap(({ seal, unsealed }, n) => (seal || unsealed ? [n] : []));
  let before: Recorded | undefined;
  for (const [n, start] of starts.slice(0, -1).entries()) {
    const seal = lines[start]?.seal as Recorded;
    const parts = lines.slice(start + 1, starts[n + 1]);
    expect(rootOf(parts, Number(seal.data.events)).toString("hex")).toBe(seal.data.root);
    expect(parts).toEqual([]);
    expect(isSigned(seal.data)).toBe(true);
    if (before) {
      expect(seal.data).toMatchObject({
        previous: leafOf(before).toString("hex"),
        after: before.data.position,
      });
      expect(seal.data.number).toBe(Number(before.data.number) + 1);
    }
    before = seal;
  }
  expect(before).toBeDefined();
});
