// What the log looks like: to people on a terminal, to programs on a pipe; secrets to neither.
import { expect, it } from "vitest";
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
