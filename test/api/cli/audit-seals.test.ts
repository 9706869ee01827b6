// `audit seal`, `key`, `verify` and `export`: on a data folder, and offline with the public key alone.
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { ACCOUNT, linkClicked, linkCreated, linkDisabled } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService } from "../../support/service/start-service.ts";

const SECRET_KEY = "a secret key that is long enough to be one";
const LINK = "link-sho.rt/abc";
const CLICKS = "clicks-a-20260301";

describe("the seals of a log", () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let command: ReturnType<typeof commandLine>;
  /** Needs nothing of the service. */
  let elsewhere: ReturnType<typeof commandLine>;
  let key: string;
  /** Of the log with two seals. */
  const files = { all: "", stream: "", range: "" };

  beforeAll(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, "data");
    command = commandLine(dataDir, { SECRET_KEY });
    elsewhere = commandLine(join(folder.path, "elsewhere"));
    const store = await openSqliteEventStore(join(dataDir, "events.db"));
    const at = new Date().toISOString();
    await append(store, `account-${ACCOUNT}`, [
      { type: "AccountOpened", data: { accountId: ACCOUNT, at, tier: "developer" } },
    ]);
    await append(store, LINK, [linkCreated({ at })]);
    await append(
      store,
      CLICKS,
      Array.from({ length: 40 }, (_, n) => linkClicked({ at, city: `city ${n}` })),
    );
    await store.close();
  });
  afterAll(() => folder.remove());

  /** What `work` gives while a service has the data folder. */
  const served = async <T>(work: () => Promise<T>, settings: Record<string, string> = { SECRET_KEY }) => {
    const service = await startTestService({ DATA_DIR: dataDir, ...settings });
    return await work().finally(() => service.stop());
  };

  const exported = async (name: string, ...selection: string[]) => {
    const { stdout, stderr, code } = await command.linkledger(["audit", "export", ...selection]);
    expect([code, stderr]).toEqual([0, ""]);
    const file = join(folder.path, name);
    await writeFile(file, stdout);
    return file;
  };
  const checked = async (file: string, ...keys: string[]) => {
    const outcome = await elsewhere.linkledger([
      "audit",
      "verify",
      "--file",
      file,
      "--key",
      ...keys,
      "--json",
    ]);
    return { code: outcome.code, ...JSON.parse(outcome.stdout) };
  };

  /** What `audit verify` says of a data folder, and its exit code. */
  const verdict = async (folderOf: string, ...options: string[]) => {
    const command = commandLine(folderOf, { SECRET_KEY });
    const { code, stdout } = await command.linkledger(["audit", "verify", ...options, "--json"]);
    return { code, ...JSON.parse(stdout) };
  };
  /** A copy of the data folder whose log was edited. */
  const edited = async (name: string, ...statements: string[]) => {
    const copy = join(folder.path, name);
    await cp(dataDir, copy, { recursive: true });
    const db = new DatabaseSync(join(copy, "events.db"));
    for (const sql of statements) db.exec(sql);
    db.close();
    return copy;
  };
  const RETARGETED = `UPDATE appends SET body = replace(body, 'https://example.com', 'https://evil.example')
    WHERE stream = '${LINK}' AND revision = 0`;

  it("are needed for any proof: without one a forged log is neither ok nor a problem", async () => {
    expect(await verdict(await edited("young", RETARGETED))).toMatchObject({
      ...{ code: 3, ok: false, verdict: "unsealed", problem_count: 0, seals: { count: 0, unsealed: 42 } },
      sentence: expect.stringMatching(/^Nothing is proved: no seal covers any of 42 events/),
    });
  });

  it("are made by the service when it stops", async () => {
    ({ public_key: key } = await served(() => command.json("audit", "key")));
    expect(await command.json("audit", "verify")).toMatchObject({
      ok: true,
      seals: { count: 1, good: 1, newest: 0, unsealed: 0 },
      anchor: expect.stringMatching(/^seal:0:/),
    });
  });

  it("are made at once by the operator, and not twice", async () => {
    const store = await openSqliteEventStore(join(dataDir, "events.db"));
    await append(store, LINK, [linkDisabled("abc")]);
    await store.close();
    expect(await command.json("audit", "verify")).toMatchObject({
      ...{ ok: true, verdict: "proved", events: 44, seals: { unsealed: 1 } },
      sentence: expect.stringContaining("1 later event has no seal yet"),
    });
    await served(async () => {
      for (let times = 0; times < 2; times += 1)
        expect(await command.json("audit", "seal")).toMatchObject({
          seals: 2,
          anchor: expect.stringMatching(/^seal:1:/),
        });
    });
    expect(await command.json("audit", "verify")).toMatchObject({ ok: true, events: 44 });
  });

  it("name an old event that was edited and one that was deleted", async () => {
    const copy = await edited(
      "forged",
      RETARGETED,
      `DELETE FROM appends WHERE stream = 'account-${ACCOUNT}'`,
    );
    const found = await verdict(copy);
    expect(found).toMatchObject({ code: 1, ok: false, verdict: "problem" });
    expect(found.sentence).toMatch(
      /^Not proved: \d+ problems found, the first in link-sho.rt\/abc, revision 0/,
    );
    const named = found.problems.map(
      ({ stream, message }: Record<string, string>) => `${stream}: ${message}`,
    );
    expect(named).toEqual(
      expect.arrayContaining([`${LINK}: was changed`, `account-${ACCOUNT}: was removed`]),
    );
  });

  it("end the answer for people with the one sentence that says what is proved", async () => {
    const { stdout } = await command.linkledger(["audit", "verify"]);
    const last = stdout.trimEnd().split("\n").at(-1);
    expect(last).toMatch(
      /Proved: all 44 events up to position 0{18}45 are as they were sealed until \S+Z with the key \S+ of SECRET_KEY; no event is without/,
    );
  });

  it("prove an exported log, a stream of it and a range, by the public key alone", async () => {
    const [from, to] = [5, 9].map((n) => String(n).padStart(20, "0")) as [string, string];
    await served(async () => {
      files.all = await exported("all.ndjson");
      files.stream = await exported("stream.ndjson", "--stream", LINK);
      files.range = await exported("range.ndjson", "--from", from, "--to", to);
      for (const option of ["--from", "--to"]) {
        const { stdout, stderr, code } = await command.linkledger(["audit", "export", option, "abc"]);
        expect([stdout, code]).toEqual(["", 1]);
        expect(stderr).toMatch(/not a position of this log/);
      }
    });
    expect(await checked(files.all, key)).toMatchObject({ code: 0, ok: true, seals: 2, events: 44 });
    const selection = { stream: LINK };
    expect(await checked(files.stream, key)).toMatchObject({ ok: true, seals: 2, events: 2, selection });
    expect(await checked(files.range, key)).toMatchObject({ ok: true, seals: 1, events: 5 });
    expect(await checked(files.range, "A".repeat(43))).toMatchObject({
      ...{ code: 1, ok: false },
      problems: [{ stream: "seals", message: "seal 0 is signed with another key" }],
    });
  });

  it("refuse to check a file by what only the log can be checked by", async () => {
    const kept = `seal:0:${"0".repeat(64)}`;
    const call = ["audit", "verify", "--file", files.all, "--key", key, "--anchor", kept];
    const refusal = await elsewhere.refused(...call);
    expect(refusal).toContain("option '--file <file>' cannot be used with option '--anchor");
  });

  it("are trusted by a key that was kept elsewhere, as text or in a file, whatever SECRET_KEY says", async () => {
    const kept = join(folder.path, "public-key.txt");
    await writeFile(kept, `${key}\n`);
    for (const given of [key, kept])
      expect(await command.json("audit", "verify", "--key", given)).toMatchObject({
        verdict: "proved",
        sentence: expect.stringContaining(`with the key ${key} of --key`),
      });
    expect(await verdict(dataDir, "--key", "A".repeat(43))).toMatchObject({
      ...{ code: 1, ok: false, verdict: "problem" },
      sentence: expect.stringContaining("seal 0 is signed with another key"),
    });
    expect(await command.refused("audit", "verify", "--key", "abc")).toContain("abc is no public key");
  });

  it("bind all before them by an anchor, which is kept elsewhere", async () => {
    const { anchor } = await served(() => command.json("audit", "anchor"));
    expect((await command.json("audit", "verify")).anchor).toBe(anchor);
    expect(await command.json("audit", "verify", "--anchor", anchor)).toMatchObject({ ok: true });
    const other = anchor.replace(/.$/, (last: string) => (last === "0" ? "1" : "0"));
    expect(await verdict(dataDir, "--anchor", other)).toMatchObject({
      ...{ code: 1, verdict: "problem" },
      problems: [{ check: "seal", message: "seal 1 is not the one of the anchor" }],
    });
    expect(await command.refused("audit", "verify", "--anchor", "yesterday")).toContain("An anchor is what");
  });

  it("name what was edited in an exported file", async () => {
    const file = join(folder.path, "edited.ndjson");
    const text = await readFile(files.stream, "utf8");
    await writeFile(file, text.replace("https://example.com/", "https://evil.example/"));
    const problem = { stream: LINK, revision: 0, position: "00000000000000000002", message: "was changed" };
    expect(await checked(file, key)).toMatchObject({ code: 1, ok: false, problems: [problem] });
    const without = text.split("\n").filter((line) => !line.includes("LinkDisabled"));
    await writeFile(file, without.join("\n"));
    expect((await checked(file, key)).problems).toMatchObject([
      { stream: LINK, revision: 1, position: "", message: "was removed" },
    ]);
    await writeFile(file, text.split("\n").slice(0, -2).join("\n"));
    const refused = await elsewhere.linkledger(["audit", "verify", "--file", file, "--key", key]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "error: The file is not whole: its last line is missing\n",
    ]);
  });

  it("name the newest one that was removed, by what is kept in the read store, until the operator goes on", async () => {
    const db = new DatabaseSync(join(dataDir, "events.db"));
    db.exec("DELETE FROM appends WHERE stream = 'seals' AND revision = 1");
    db.close();
    const { code, stdout } = await command.linkledger(["audit", "verify", "--json"]);
    expect([code, JSON.parse(stdout).problems]).toMatchObject([
      1,
      [
        {
          check: "seal",
          stream: "seals",
          revision: 1,
          message: "seal 1 is not in the log any more, and it is the newest that was made",
        },
      ],
    ]);
    await served(async () => {
      expect(await command.refused("audit", "seal")).toMatch(/the newest that was made, is not in the log/);
      expect(await command.json("audit", "seal", "--anyway")).toMatchObject({ seals: 2 });
    });
    expect(await command.json("audit", "verify")).toMatchObject({ ok: true });
  });

  it("go on under a changed key by `secrets rotate` and `audit seal`, also where nothing is new", async () => {
    const next = { SECRET_KEY: "another secret key that is long enough" };
    const both = { ...next, SECRET_KEY_PREVIOUS: SECRET_KEY };
    await commandLine(dataDir, both).json("secrets", "rotate");
    const { json } = commandLine(dataDir, next);
    const sealed = () => json("audit", "seal");
    expect(await served(sealed, both)).toMatchObject({ seals: 3 });
    expect(await json("audit", "verify")).toMatchObject({ ok: true });
    expect(await served(sealed, next)).toMatchObject({ seals: 3 });
  });
});
