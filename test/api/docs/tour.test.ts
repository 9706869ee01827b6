// README's tour and its webhooks, pasted as a whole into a shell beside a service that has just started.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { instanceOf, startService } from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const PATIENCE_MS = 240_000;

it(
  "the tour shows what README shows: an account, a link, its three visits, and a webhook that was received",
  async () => {
    const folder = await temporaryFolder();
    const instance = await instanceOf(join(folder.path, "data"), { WEBHOOK_ALLOW_PRIVATE: "true" });
    const service = await startService(instance);
    await symlink(join(root, "examples"), join(folder.path, "examples"));
    const receiver = String(await freePort());
    const pasted = shellOf("A tour", "Webhooks")
      .replaceAll("localhost:3000", `localhost:${instance.PORT}`)
      .replaceAll("127.0.0.1:4000", `127.0.0.1:${receiver}`)
      .replace("node examples/", `PORT=${receiver} node examples/`);
    const bin = join(folder.path, "bin");
    await mkdir(bin);
    await symlink(process.execPath, join(bin, "node"));
    const npx = `#!/bin/sh\nshift\nexec node "${root}src/cli.ts" "$@"\n`;
    await writeFile(join(bin, "npx"), npx, { mode: 0o700 });
    const environment = childEnvironment(instance);
    try {
      const { stdout } = await promisify(execFile)("sh", ["-c", pasted], {
        cwd: folder.path,
        env: { ...environment, PATH: `${bin}:${environment.PATH}` },
      });
      expect(stdout).toContain('"long_url":"https://example.com/spring?utm_source=newsletter"');
      expect(stdout).toContain("HTTP/1.1 301 Moved Permanently");
      expect(stdout).toMatch(/"totalClicks":3,"actualClicks":1,"previews":1,"qrScans":1/);
      expect(stdout).toMatch(/^\S+ link\.clicked http:\/\/localhost:\d+\/\w{7}$/m);
      expect(stdout).toContain("delivered");
      expect(readFileSync(join(folder.path, "qr.svg"), "utf8")).toContain("<svg");
    } finally {
      await service.stop();
      await folder.remove();
    }
  },
  PATIENCE_MS,
);

/** The shell blocks of these sections, one after the other. */
function shellOf(...titles: string[]): string {
  const sections = readFileSync(join(root, "README.md"), "utf8").split("\n## ");
  const chosen = sections.filter((one) => titles.some((title) => one.startsWith(`${title}\n`)));
  expect(chosen).toHaveLength(titles.length);
  return [...chosen.join("\n").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join("");
}
