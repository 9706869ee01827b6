// What the log looks like: to people on a terminal, to programs on a pipe; secrets to neither.
import { expect, it, vi } from "vitest";
import { createLogger } from "../../../src/runtime/logging.ts";

const TIME = /^\d\d:\d\d:\d\d /;

function lines(write: (log: ReturnType<typeof createLogger>) => void, terminal = {}) {
  const written: string[] = [];
  write(createLogger("info", { write: (text: string) => void written.push(text), ...terminal }));
  return written;
}

it("shows a line on a terminal with the time, the level, the message and its fields", () => {
  const [line = "", ...more] = lines(
    (log) => log.child({ worker: "2" }).warn({ config: { port: 3000, roles: ["api"] } }, "Listening"),
    { isTTY: true },
  );
  expect(more).toEqual([]);
  expect(line).toMatch(TIME);
  expect(line.replace(TIME, "")).toBe('warn  Listening worker=2  config.port=3000  config.roles=["api"]\n');
});

it("shows an error on a terminal with where it was thrown and what caused it", () => {
  const err = new Error("no answer", {
    cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
  });
  const [text = ""] = lines((log) => log.error({ err }, "The mail was not sent"), { isTTY: true });
  const shown = text.split("\n");
  expect(shown[0]?.replace(TIME, "")).toBe("error The mail was not sent");
  expect(shown[1]).toBe("  Error: no answer");
  expect(shown[2]).toMatch(/^ +at .*logging\.test\.ts/);
  expect(text).toContain("\n  caused by Error (ECONNREFUSED): refused\n");
});

it("colours levels where the terminal has colours, and obeys nothing that a message quotes", () => {
  const [text = ""] = lines((log) => log.info("a\u001B[2Jb"), { isTTY: true, hasColors: () => true });
  expect(text).toContain("\u001B[32minfo ");
  expect(text).toContain("a\uFFFD[2Jb");
});

it("writes JSON elsewhere", () => {
  const [line = ""] = lines((log) => log.info({ events: 3 }, "done"));
  expect(JSON.parse(line)).toMatchObject({ level: "info", service: "linkledger", events: 3, msg: "done" });
});

it.each([{ isTTY: true }, {}])("hides keys and addresses, whoever reads it: %j", (terminal) => {
  const secrets = { apiKey: "ll_secret", email: "a@example.com", headers: { cookie: "secret" } };
  const text = lines((log) => log.info({ ...secrets, password: "secret" }, "asked"), terminal).join();
  expect(text).not.toMatch(/secret|example/);
  expect(text).toContain("(hidden)");
});

it("leaves out no line that says what to do about an outage, whatever has met it before", () => {
  const full = Object.assign(new Error("disk is full"), { code: "store_unavailable" });
  const written = lines((log) => {
    log.warn({ err: full }, "interrupted");
    log.error({ outage: full }, "The log can't be written: free some space");
    log.warn({ err: full }, "interrupted");
  }).map((line) => JSON.parse(line));
  expect(written.map(({ msg }) => msg)).toEqual(["interrupted", "The log can't be written: free some space"]);
  expect(written[1].outage).toEqual({ type: "Error", code: "store_unavailable", message: "disk is full" });
});

it("says an outage in one line without a stack, whatever meets it, and the next one again", () => {
  const outage = (code: string, message: string) => Object.assign(new Error(message), { code });
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const written = lines((log) => {
    const parts = log.child({ worker: "1" });
    for (; now < 60_000; now += 5_000) {
      log.warn(
        { err: outage("store_unavailable", "MongoDB is unavailable: connect ECONNREFUSED") },
        "interrupted",
      );
      parts.error({ err: outage("store_unavailable", "MongoDB is unavailable") }, "no lease");
      log.warn({ err: new Error("another") }, "failed");
    }
    log.warn({ err: outage("store_failed", "events.db is damaged") }, "not sealed");
    now += 20_000;
    log.warn({ err: outage("store_unavailable", "MongoDB is unavailable") }, "interrupted");
  }).map((line) => JSON.parse(line));
  const outages = written.filter(({ msg }) => msg !== "failed");
  expect(outages.map(({ msg, err }) => [msg, err.message, err.stack])).toEqual([
    ["interrupted", "MongoDB is unavailable: connect ECONNREFUSED", undefined],
    ["not sealed", "events.db is damaged", undefined],
    ["interrupted", "MongoDB is unavailable", undefined],
  ]);
  expect(written.length - outages.length).toBe(12);
  expect(written.find(({ msg }) => msg === "failed").err.stack).toContain("logging.test.ts");
});
