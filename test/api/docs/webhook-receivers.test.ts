// Runs the receivers in examples/, which docs/webhooks.md refers to, and sends them genuine and forged deliveries.
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SigningSecrets } from "../../../src/commands/webhooks/signing-key.ts";
import { LINK_CLICKED } from "../../../src/events/webhook-selection.ts";
import { deliverySender } from "../../../src/webhooks/delivery/send-delivery.ts";
import { signatureHeaders } from "../../../src/webhooks/delivery/sign.ts";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { samplePayload } from "../../../src/webhooks/routing/sample-payload.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { onServer, type ServerProcess, serverProcess } from "../../support/servers/test-servers.ts";

const KEY = "whk_abcdefghijklmnopqrstuvwxyz012345";
const OTHER_KEY = "whk_543210zyxwvutsrqponmlkjihgfedcba";
const secretsOf = (keys: readonly [string, ...string[]]) => {
  const [first, ...others] = keys.map((key) => ({ key, seed: key.slice(-32) }));
  return [first as SigningSecrets, ...others] as const;
};
const BUILD_TIMEOUT_MS = 300_000;

type Language = {
  name: string;
  file: string;
  /** A command that succeeds when the language is installed. */
  probe: [string, ...string[]];
  /** Compiles the file, if needed, to another one. */
  build?: (file: string, built: string) => [string, string[]];
  /** `file`: what was built, or else the source. */
  run: (file: string, port: number) => string[];
};

const languages: Language[] = [
  {
    name: "Node",
    file: "webhook-receiver.mjs",
    probe: [process.execPath, "--version"],
    run: (file) => [process.execPath, file],
  },
  {
    name: "Python",
    file: "webhook-receiver.py",
    probe: ["python3", "--version"],
    run: (file) => ["python3", file],
  },
  {
    name: "Go",
    file: "webhook-receiver.go",
    probe: ["go", "version"],
    build: (file, built) => ["go", ["build", "-o", built, file]],
    run: (file) => [file],
  },
  {
    name: "PHP",
    file: "webhook-receiver.php",
    probe: ["php", "--version"],
    run: (file, port) => ["php", "-S", `127.0.0.1:${port}`, file],
  },
];

let sentAt = Date.now();
const sender = deliverySender({
  ...{ allowPrivate: true, resolve: receiverResolver(["127.0.0.1"]), now: () => sentAt },
});
afterAll(() => sender.destroy());

for (const language of languages) {
  const { name, probe, run, build } = language;
  const [program, ...args] = probe;
  const isThere = spawnSync(program, args).status === 0;
  const reason = isThere ? undefined : `there is no ${program} on the PATH`;

  const suite = () => {
    let folder: TemporaryFolder;
    let server: ServerProcess;
    beforeAll(async () => {
      folder = await temporaryFolder();
      const source = fileURLToPath(new URL(`../../../examples/${language.file}`, import.meta.url));
      const built = join(folder.path, "receiver");
      if (build) await promisify(execFile)(...build(source, built));
      const port = await freePort();
      const command = run(build ? built : source, port);
      server = serverProcess(port, ["env", `WEBHOOK_KEY=${KEY}`, `PORT=${port}`, ...command]);
      await server.start();
    }, BUILD_TIMEOUT_MS);
    afterAll(async () => {
      await server?.kill();
      await folder.remove();
    });

    const body = samplePayload(LINK_CLICKED, "https://go.example", Date.now());
    const deliver = (keys: readonly [string, ...string[]], now = Date.now()) => {
      const url = `http://127.0.0.1:${server.port}/hook`;
      sentAt = now;
      return sender.send({ url, secrets: secretsOf(keys), id: "event-1", body, event: LINK_CLICKED });
    };
    const refused = { status: 401, answer: expect.stringMatching(/"error": ?"Invalid webhook key"/) };

    it("acknowledges a delivery, and the same one again", async () => {
      for (const _ of [1, 2]) {
        const answered = await deliver([KEY]);
        expect(answered).toMatchObject({ status: 200, error: null });
        expect(JSON.parse(answered.answer)).toEqual({ received: true });
      }
    });

    it("answers 401 with an error field for a wrong key", async () => {
      const answered = await deliver([OTHER_KEY]);
      expect(answered).toMatchObject(refused);
      expect(JSON.parse(answered.answer)).toEqual({ error: "Invalid webhook key" });
    });

    it("accepts the old key during a rotation", async () => {
      expect(await deliver([OTHER_KEY, KEY])).toMatchObject({ status: 200 });
    });

    it("refuses what was signed more than five minutes ago, or is from the future", async () => {
      expect(await deliver([KEY], Date.now() - 310_000)).toMatchObject(refused);
      expect(await deliver([KEY], Date.now() + 310_000)).toMatchObject(refused);
    });

    it("refuses a changed body, and a request without a signature", async () => {
      const post = async (headers: Record<string, string>, text: string) => {
        const url = `http://127.0.0.1:${server.port}/hook`;
        const response = await fetch(url, { method: "POST", headers, body: text });
        return { status: response.status, answer: await response.text() };
      };
      const text = Buffer.from(body).toString();
      const signed: Record<string, string> = signatureHeaders(secretsOf([KEY]), "event-1", Date.now(), body);
      expect(await post(signed, text)).toMatchObject({ status: 200 });
      expect(await post(signed, text.replace("Paris", "Lyon"))).toMatchObject(refused);
      expect(await post({ "x-api-key": KEY }, text)).toMatchObject(refused);
      expect(await post({ ...signed, "webhook-signature": "v1," }, text)).toMatchObject(refused);
      expect(await post({ ...signed, "webhook-timestamp": "soon" }, text)).toMatchObject(refused);
    });
  };
  const title = `the ${name} receiver in examples/`;
  onServer({ name: title, reason, installable: false }, () => describe(title, suite));
}
