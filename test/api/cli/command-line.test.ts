// Output and errors of the command line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { VERSION } from "../../../src/config/version.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { type LoopbackDns, openDns } from "../../support/servers/loopback-dns.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { commandLine, commandProcess } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

let folder: TemporaryFolder;
let service: TestService;
let dns: LoopbackDns;
let linkledger: ReturnType<typeof commandLine>["linkledger"];
let json: ReturnType<typeof commandLine>["json"];
let refused: ReturnType<typeof commandLine>["refused"];
beforeAll(async () => {
  folder = await temporaryFolder();
  dns = await openDns(() => [{ txt: "\u001b[2Jok" }]);
  service = await startTestService({ DNS_SERVERS: dns.server });
  ({ linkledger, json, refused } = commandLine(service.config.dataDir));
});
afterAll(async () => {
  await service.stop();
  await dns.stop();
  await folder.remove();
});

describe("the command line", { timeout: 120_000 }, () => {
  it("opens an account with a first key, invites people, and makes links with their slugs", async () => {
    const own = await startTestService({ BASE_HOST_SLUGS: "true" });
    onTestFinished(() => own.stop());
    const { json, refused } = commandLine(own.config.dataDir);
    const { tier, key, key_id } = await json("account", "create", "--email", "first@b.c", "--key");
    expect([tier, key]).toEqual(["free", expect.stringMatching(/^ll_[A-Za-z0-9]{32}$/)]);
    expect((await json("key", "list", "--account", "first@b.c")).keys).toMatchObject([{ key_id }]);
    const invitation = await json("account", "invite", "guest@b.c", "--tier", "free");
    expect(invitation).toMatchObject({ email: "guest@b.c", tier: "free" });
    expect(invitation.link).toMatch(/\/portal\/sign-up\/finish\?token=[\w-]{43}$/);
    expect(await refused("account", "invite", "First@b.c")).toMatch(/exists already/);

    const create = ["link", "create", "https://example.com/a", "--account", "first@b.c"];
    expect(await json(...create)).toMatchObject({ slug: expect.stringMatching(/^\w{7}$/) });
    await json("account", "tier", "first@b.c", "developer");
    expect(await json(...create, "--slug", "Spring")).toMatchObject({ slug: "spring" });
    expect(await refused(...create, "--slug", "spring")).toMatch(/exists/);
  });

  it("opens accounts, issues keys and looks after domains", async () => {
    const account = await json("account", "create", "--email", "a@b.c", "--tier", "developer");
    expect(account).toMatchObject({ account_id: expect.any(String), email: "a@b.c", tier: "developer" });
    const id = account.account_id;
    expect(account.password_link).toMatch(/^http:\/\/[^/]+\/portal\/reset\/choose\?token=[\w-]{43}$/);

    const reset = await json("account", "password", id);
    expect(reset).toMatchObject({ account_id: id, expires_at: expect.any(String) });
    expect(reset.link).toMatch(/^http:\/\/[^/]+\/portal\/reset\/choose\?token=[\w-]{43}$/);

    const key = await json("key", "issue", "--account", id, "--label", "first");
    expect(key).toEqual({ key_id: expect.any(String), key: expect.stringMatching(/^ll_[A-Za-z0-9]{32}$/) });
    const { keys } = await json("key", "list", "--account", id);
    expect(keys).toMatchObject([
      { key_id: key.key_id, label: "first", status: "active", hint: key.key.slice(-4) },
    ]);
    await json("key", "deactivate", key.key_id);
    await json("key", "deactivate", key.key_id);

    const added = await json("domain", "add", "--account", id, "Go.Example.com");
    expect(added).toEqual({
      hostname: "go.example.com",
      record: { type: "TXT", name: "_linkledger.go.example.com", value: expect.any(String) },
    });
    const domain = await json("domain", "verify", "--account", id, "go.example.com", "--skip-dns");
    expect(domain).toEqual({ domain_id: expect.any(String), hostname: "go.example.com", state: "verified" });
    expect(await json("domain", "deactivate", domain.domain_id)).toMatchObject({ state: "inactive" });
    expect(await json("domain", "activate", domain.domain_id)).toMatchObject({ state: "active" });
    const { domains } = await json("domain", "list", "--account", id);
    expect(domains).toMatchObject([{ domain_id: domain.domain_id, state: "verified", active: true }]);

    const shown = await json("account", "show", id);
    expect(shown).toMatchObject({
      email: "a@b.c",
      keys: [{ status: "deactivated" }],
      domains: [{ active: true }],
    });
    expect(await json("domain", "remove", domain.domain_id)).toMatchObject({ state: "removed" });
    const slug = ["link", "create", "https://example.com/a", "--account", id, "--slug", "spring"];
    expect(await refused(...slug)).toMatch(/only available with custom domains.*BASE_HOST_SLUGS=true/);
    expect(await json("account", "tier", id, "free")).toEqual({ account_id: id, tier: "free" });
    const { accounts } = await json("account", "list");
    expect(accounts).toMatchObject([{ account_id: id, email: "a@b.c", tier: "free", status: "open" }]);
  });

  it("shows projections and the log", async () => {
    const { head, projections } = await json("projections", "status");
    expect(head).toEqual(expect.any(String));
    expect(projections).toContainEqual(
      expect.objectContaining({ name: "lifecycle", state: "current", set_aside: { count: 0, events: [] } }),
    );
    const { streams } = await json("audit", "streams");
    const own = streams.find(({ stream }: { stream: string }) => stream.startsWith("account-"));
    const { events } = await json("audit", "stream", own.stream);
    expect(events).toHaveLength(own.events);
    expect(events[0]).toMatchObject({ type: "AccountOpened", metadata: { actor: { type: "operator" } } });
    const all = await json("audit", "events", "--category", "account", "--limit", "2");
    expect(all.events.map(({ type }: { type: string }) => type)).toEqual(["AccountOpened", events[1].type]);
    const after = ["--after", all.events[0].position];
    const [next] = (await json("audit", "events", "--category", "account", ...after)).events;
    expect(next).toEqual(all.events[1]);
    expect(await refused("audit", "events", "--limit", "0")).toMatch(/from 1 on/);
  });

  it("answers people in tables and fields", async () => {
    const { stdout } = await linkledger(["account", "list"]);
    expect(stdout).toMatch(
      /^Account ID +Email +Tier +Status +Opened at +Links\n\S+ +a@b\.c +free +open +\S+ \S+ UTC +0\n$/,
    );
    const { key_id: keyId } = await json("key", "issue", "--account", "a@b.c");
    const { stdout: told } = await linkledger(["key", "deactivate", keyId]);
    expect(told).toBe(`Key ID  ${keyId}\nStatus  deactivated\n`);
  });

  it("takes an account, a domain and a webhook by what an operator knows of it", async () => {
    const { account_id: id } = await json("account", "create", "--email", "n@b.c", "--tier", "developer");
    await json("domain", "add", "--account", "N@b.c", "named.example.com");
    expect(await json("account", "show", "named.example.com")).toMatchObject({ account_id: id });
    expect(await json("domain", "remove", "named.example.com")).toMatchObject({ state: "removed" });
    const url = "https://hooks.example.com/named";
    const { webhook_id: webhookId } = await json("webhook", "add", "--account", "n@b.c", "--url", url);
    expect(await json("webhook", "pause", url)).toEqual({ webhook_id: webhookId, status: "paused" });
    expect(await refused("webhook", "resume", `${url}/other`)).toMatch(/not found/);
  });

  it("suggests what was meant", async () => {
    expect(await refused("acount", "list")).toMatch(/Did you mean account\?/);
    expect(await refused("account", "list", "--jsn")).toMatch(/Did you mean --json\?/);
  });

  it("gives people no control characters that others chose, neither in answers nor in errors", async () => {
    const { account_id: id } = await json("account", "create", "--email", "d@e.f", "--tier", "developer");
    const { hostname } = await json("domain", "add", "--account", id, "dns.example.com");
    expect(await refused("domain", "verify", "--account", id, hostname)).toContain("“�[2Jok”");

    await json("key", "issue", "--account", id, "--label", "\u001b]0;x\u0007ci\nstatus: active\u202e");
    const { stdout } = await linkledger(["key", "list", "--account", id]);
    expect(stdout).toMatch(/ \]0;x ci status: active\s/);
    for (const control of ["\u001b", "\u0007", "\u202e"]) expect(stdout).not.toContain(control);
  });

  it("says what is wrong in one line and exits with 1", async () => {
    const unknown = "11111111-1111-4111-8111-111111111111";
    expect(await refused("account", "create", "--email", "A@B.c")).toMatch(/exists already/);
    expect(await refused("account", "create", "--email", "nonsense")).toMatch(/e-mail/);
    expect(await refused("account", "create")).toMatch(/--email/);
    expect(await refused("account", "create", "--email", "x@y.z", "--tier", "gold")).toMatch(
      /free, developer/,
    );
    expect(await refused("account", "show", unknown)).toMatch(/not found/);
    expect(await refused("account", "tier", unknown, "free")).toMatch(/not found/);
    expect(await refused("key", "issue", "--account", unknown)).toMatch(/not found/);
    expect(await refused("key", "deactivate", unknown)).toMatch(/not found/);
    expect(await refused("domain", "activate", unknown)).toMatch(/not found/);
    expect(await refused("audit", "link", "nothing")).toMatch(/not found/);
    expect(await refused("nonsense")).toMatch(/unknown command/);
  });

  it("says a default once, and none of a name that must be given", async () => {
    const help = async (...command: string[]) => (await linkledger([...command, "--help"])).stdout;
    for (const command of ["events", "find", "clicks", "seals"])
      expect((await help("audit", command)).match(/default:? \d+/g), command).toHaveLength(1);
    expect(await help("projections", "rebuild")).toContain("both by default");
    expect(await help("projections", "rollback")).not.toContain("default");
  });

  it("says which version it is, without a data folder", async () => {
    const outcome = await linkledger(["--version"], { DATA_DIR: join(folder.path, "nowhere") });
    expect(outcome).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  it("says what is wrong with the environment", async () => {
    const outcome = await linkledger(["account", "list", "--json"], { PORT: "many", LOG_LEVEL: "loud" });
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toMatch(/^error: [^\n]*PORT[^\n]*LOG_LEVEL[^\n]*\n$/);
  });

  it("as a process makes private files, and exits with 0 when its reader leaves, with 1 when it has failed", async () => {
    const { dataDir } = service.config;
    const place = join(folder.path, "made");
    await commandProcess(dataDir).json("backup", place);
    expect(await readdir(place)).toContain("events.db");
    for (const name of await readdir(place)) expect((await stat(join(place, name))).mode & 0o077).toBe(0);

    const file = join(folder.path, "broken.csv");
    await writeFile(file, "keyword,url\nbad,nonsense\n");
    const unread = async (...args: string[]) => {
      const child = spawn(process.execPath, ["src/cli.ts", ...args], {
        env: childEnvironment({ DATA_DIR: dataDir }),
        stdio: ["ignore", "pipe", "ignore"],
      });
      child.stdout.destroy();
      return (await once(child, "exit"))[0];
    };
    expect(await unread("audit", "streams")).toBe(0);
    expect(await unread("import", "yourls", file, "--account", "a@b.c")).toBe(1);
  });

  it.skipIf(!existsSync("/dev/full"))(
    "says in one line that the disk is full which it prints to",
    async () => {
      const full = await open("/dev/full", "w");
      const child = spawn(process.execPath, ["src/cli.ts", "audit", "export"], {
        env: childEnvironment({ DATA_DIR: service.config.dataDir }),
        stdio: ["ignore", full.fd, "pipe"],
      });
      const exit = once(child, "exit");
      expect(await text(child.stderr as Readable)).toBe("error: The disk is full\n");
      expect((await exit)[0]).toBe(1);
      await full.close();
    },
  );
});
