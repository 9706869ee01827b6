// README's tour, pasted as a whole into a shell beside a service that has just started.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { instanceOf, startService } from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

it("the tour shows what README shows: an account, a link, its visits, its story and its proof", async () => {
  const folder = await temporaryFolder();
  const instance = await instanceOf(join(folder.path, "data"), {});
  const service = await startService(instance);
  const bin = join(folder.path, "bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  const npx = `#!/bin/sh\nshift\nexec node "${root}src/cli.ts" "$@"\n`;
  await writeFile(join(bin, "npx"), npx, { mode: 0o700 });
  const environment = childEnvironment(instance);
  try {
    const { stdout } = await promisify(execFile)("sh", ["-c", tourAt(`localhost:${instance.PORT}`)], {
      cwd: folder.path,
      env: { ...environment, PATH: `${bin}:${environment.PATH}` },
    });
    expect(stdout).toContain('"long_url":"https://example.com/spring?utm_source=newsletter"');
    expect(stdout).toContain("HTTP/1.1 301 Moved Permanently");
    expect(stdout).toMatch(/"totalClicks":2,"actualClicks":1,"previews":1,"qrScans":0/);
    expect(stdout).toContain("LinkCreated by the API key “tour”");
    expect(stdout).toMatch(/^Proved: all 5 events/m);
    expect(readFileSync(join(folder.path, "qr.svg"), "utf8")).toContain("<svg");
  } finally {
    await service.stop();
    await folder.remove();
  }
});

function tourAt(host: string): string {
  const [, tour = ""] = /^## A tour\n.*?^```sh\n(.*?)^```$/ms.exec(readme()) ?? [];
  return tour.replaceAll("localhost:3000", host);
}

function readme(): string {
  return readFileSync(join(root, "README.md"), "utf8");
}
