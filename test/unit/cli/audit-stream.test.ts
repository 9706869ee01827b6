// linkledger audit stream: a stream of any length is printed as it is read.
import { describe, expect, it } from "vitest";
import { streamParts } from "../../../src/cli/audit/audit-commands.ts";
import type { RecordedEvent } from "../../../src/stores/event-store/port.ts";

describe("the events of a stream", () => {
  const stream = "link-localhost/long";
  const stored = Array.from(
    { length: 600 },
    (_, revision) => ({ stream, revision, type: "LinkDisabled" }) as RecordedEvent,
  );
  /** `count`: how many events were read by now. */
  const openLog = () => {
    const log = {
      count: 0,
      read: async (name: string, { from = 0, limit = Number.POSITIVE_INFINITY } = {}) => {
        const page = name === stream ? stored.slice(from, from + limit) : [];
        log.count += page.length;
        return page;
      },
    };
    return log;
  };

  it("are one JSON document, whose first events are printed before the others are read", async () => {
    const log = openLog();
    const parts = streamParts(log, stream, { json: true });
    let printed = String((await parts.next()).value) + String((await parts.next()).value);
    expect(printed).toContain('"revision":0');
    expect(log.count).toBeLessThan(300);
    for await (const part of parts) printed += part;
    expect(JSON.parse(printed)).toEqual({ stream, events: stored });
    expect(printed.endsWith("}\n")).toBe(true);
  });

  it("are all shown to people, below the name of the stream", async () => {
    const lines = (await Array.fromAsync(streamParts(openLog(), stream, {}))).join("").split("\n");
    expect(lines[0]).toBe(`Stream  ${stream}`);
    expect(lines.filter((line) => line.includes("LinkDisabled"))).toHaveLength(600);
  });

  it("are refused in one line for a stream that does not exist, before anything is printed", async () => {
    const parts = streamParts(openLog(), "link-localhost/none", { json: true });
    await expect(parts.next()).rejects.toThrow("There is no stream link-localhost/none");
  });
});
