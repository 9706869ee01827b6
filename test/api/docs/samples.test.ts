// What /docs shows is run as a reader would paste it, key and all: the guides from their first block to their last, and the
// request of every operation, by curl, Node and Python.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LANGUAGES, type LanguageId } from "../../../src/api/docs/code-samples.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { onServer } from "../../support/servers/test-servers.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { endWithThisProcess } from "../../support/service/end-with-this-process.ts";
import {
  BASE_URL,
  type Member,
  startTestService,
  type TestService,
} from "../../support/service/start-service.ts";
import { SAMPLE_KEY, sendSample } from "../../support/webhooks/send-sample.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";

const sdk = fileURLToPath(new URL("../../../sdk", import.meta.url));
const client = {
  name: "the client's packages",
  reason: existsSync(join(sdk, "node_modules/openapi-fetch")) ? undefined : "run .ci/clients/install.sh",
};
const PROGRAMS = {
  curl: ["sh", "sh"],
  javascript: [process.execPath, "mjs"],
  python: ["python3", "py"],
} as const;
const SLUG = "k7m2pqx";
/** Each starts a program for every sample; a busy machine takes a while. */
const timeout = 240_000;

onServer(client, () => {
  let service: TestService;
  let member: Member;
  let folder: TemporaryFolder;
  let domainId: string;
  let webhookId: string;
  /** Of a shared page, which each language ends. */
  let pageId: string;

  beforeAll(async () => {
    service = await startTestService({ BASE_HOST_SLUGS: "true", WEBHOOK_ALLOW_PRIVATE: "true" });
    member = await service.member("developer");
    folder = await temporaryFolder();
    await mkdir(join(folder.path, "node_modules/@linkledger"), { recursive: true });
    await symlink(sdk, join(folder.path, "node_modules/@linkledger/client"));
    domainId = await service.domain(member.accountId, "samples.example.org");
    ({ webhookId } = await webhookOf(service.backend, member.accountId, await freePort()));
    await service.post("/api/v1/shorten", member.key, { url: "https://example.com/", customSlug: SLUG });
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const pageOf = async (name: string) => (await service.ask(`/docs/${name}`)).text;
  const written = async (language: LanguageId, name: string, code: string) => {
    const [program, ending] = PROGRAMS[language];
    const path = join(folder.path, `${name}.${ending}`);
    await writeFile(path, filled(code));
    return [program, language === "curl" ? ["-e", path] : [path]] as const;
  };
  const filled = (code: string) =>
    code
      .replaceAll(BASE_URL, service.url)
      .replaceAll('HTTPConnection("localhost")', `HTTPConnection("127.0.0.1:${service.port}")`)
      .replaceAll(/3f0d5f2e-[-0-9a-f]{27}/g, domainId)
      .replaceAll(/0195b7e0-[-0-9a-f]{27}/g, webhookId)
      .replaceAll(/0195b7e1-[-0-9a-f]{27}/g, pageId);
  const environment = (more: Record<string, string> = {}) => childEnvironment({ KEY: member.key, ...more });
  const run = async (language: LanguageId, name: string, code: string) => {
    const [program, args] = await written(language, name, code);
    const { stdout } = await promisify(execFile)(program, args, { cwd: folder.path, env: environment() });
    return stdout;
  };
  /** In one program, which says before each what it is. */
  const runAll = async (language: LanguageId, all: (readonly [name: string, code: string])[]) => {
    const parts = all.map(async ([name, code], n) => {
      if (language === "python") return `print("### ${name}", flush=True)\n${code}`;
      if (language === "curl") return `echo "### ${name}"\n${code}; echo`;
      // Modules of their own, as their constants have the same names.
      await written(language, name, code);
      return `console.log("### ${name}"); await import("./" + "${name}.mjs?${n}");`;
    });
    return await run(language, "all", (await Promise.all(parts)).join("\n\n"));
  };
  const started = async (language: LanguageId, name: string, code: string, more = {}) => {
    const [program, args] = await written(language, name, code);
    const child = spawn(program, args, { cwd: folder.path, env: environment(more), detached: true });
    endWithThisProcess(child);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += text));
    const end = () => child.pid && child.exitCode === null && process.kill(-child.pid, "SIGKILL");
    return { printed: () => printed, end };
  };

  /** What each guide prints, by what a reader looks for. */
  const GUIDES = {
    "first-link": ["example.com/spring", "example.com/summer"],
    "many-links": [/localhost\/\w{7}/, "invalid_url", "example.com/a"],
    numbers: [/^[{0]/, "T00:00:00.000+0"],
    errors: ["400", "invalid_url"],
    idempotency: [/("slug":"(\w{7})"|^\w{7}$)[\s\S]*\1/m, "First", "precondition_failed"],
  };

  describe.each(Object.entries(GUIDES))("the guide %s", (name, said) => {
    it.each(LANGUAGES)("runs as it stands by $name", { timeout }, async ({ id }) => {
      const code = codeOf(await pageOf(`guide-${name}`), id);
      expect(code.length).toBeGreaterThan(0);
      const printed = await run(id, `guide-${name}`, code.join("\n\n"));
      for (const text of said)
        expect(printed).toEqual(
          typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
        );
    });
  });

  describe.each(LANGUAGES)("the samples in $name", ({ id }) => {
    /** Of all operations, in an order in which each finds the link as it needs it. */
    const samplesOfAll = async () => {
      const pages = await Promise.all(["redirect", "links", "analytics", "events", "webhooks"].map(pageOf));
      const found = pages.flatMap((page) =>
        [...page.matchAll(/<article id="(\w+)">(.*?)<\/article>/gs)].flatMap(([, name = "", html = ""]) => {
          const [code] = codeOf(html, id);
          return code === undefined ? [] : [[name, code] as const];
        }),
      );
      const codes = new Map(found);
      const restore = codes.get("restoreLink") ?? "";
      const isDeleting = (name: string) => name.startsWith("deleteLink");
      // Another one gives the link other tags.
      const others = found
        .filter(([name]) => !isDeleting(name) && name !== "restoreLink")
        .sort(([name]) => (name === "changeTag" ? -1 : 0));
      const deleting = found.filter(([name]) => isDeleting(name));
      return [...others, ...deleting.flatMap((one) => [one, ["restoreLink", restore] as const])];
    };
    const isStream = (name: string) => name.startsWith("follow");

    it("are each accepted as they stand", { timeout }, async () => {
      const tagged = { method: "PATCH", key: member.key, body: { tags: ["spring"] } };
      expect((await service.ask(`/api/v1/links/${SLUG}`, tagged)).status).toBe(200);
      await until("the tag to be listed", async () => {
        type Tags = { tags: { tag: string }[] };
        const { tags } = (await service.ask<Tags>("/api/v1/tags", { key: member.key })).body;
        return tags.some(({ tag }) => tag === "spring");
      });
      const shared = await service.post<{ page_id: string }>("/api/v1/shared-pages", member.key, {
        name: "x",
      });
      pageId = shared.body.page_id;
      const all = (await samplesOfAll()).filter(([name]) => !isStream(name));
      expect(all.length).toBeGreaterThan(25);
      const printed = (await runAll(id, all)).split(/^### /m).slice(1);
      expect(printed).toHaveLength(all.length);
      for (const part of printed) {
        const [, name = "", answer = ""] = /^(\w+)\n(.*)/s.exec(part) ?? [];
        expect(answer, name).not.toMatch(/^\{\s*"?error"?:/);
        if (name !== "getQrCode") expect(answer, name).toMatch(/\S/);
      }
    });

    it("go on with a stream", { timeout }, async () => {
      const streams = (await samplesOfAll()).filter(([name]) => isStream(name));
      expect(streams).toHaveLength(3);
      const programs = await Promise.all(streams.map(([name, code]) => started(id, name, code)));
      for (const [n, { printed, end }] of programs.entries()) {
        await until(`what ${streams[n]?.[0]} prints`, async () => {
          await service.post("/api/v1/shorten", member.key, { url: "https://example.com/" });
          return printed().includes("LinkCreated") || /link\.created|alive/.test(printed());
        });
        end();
      }
    });
  });

  it.each([LANGUAGES[1], LANGUAGES[2]])(
    "the webhooks' guide receives by $name",
    { timeout },
    async ({ id }) => {
      const [code = ""] = codeOf(await pageOf("guide-webhooks"), id);
      const port = await freePort();
      const receiver = await started(id, "receiver", code, { WEBHOOK_KEY: SAMPLE_KEY, PORT: String(port) });
      const url = `http://127.0.0.1:${port}/`;
      await until("the receiver to refuse what isn't signed", () =>
        fetch(url, { method: "POST", body: "{}" }).then(
          ({ status }) => status === 401,
          () => false,
        ),
      );
      expect((await sendSample(url)).status).toBe(204);
      await until("what it prints", async () => /link\.clicked http/.test(receiver.printed()));
      receiver.end();
    },
  );
});

/** The blocks of a language, in their order, as a reader copies them. */
function codeOf(html: string, language: LanguageId): string[] {
  const blocks = html.matchAll(new RegExp(`<figure class="in-${language}">.*?<pre[^>]*>(.*?)</pre>`, "gs"));
  return [...blocks].map(([, code = ""]) => textOf(code));
}

function textOf(html: string): string {
  return html
    .replace(/<[^>]+>/g, "")
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
