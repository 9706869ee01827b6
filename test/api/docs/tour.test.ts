// examples/tour.sh, which the README names, and what other pages add to it, as a whole in a shell beside a service that has
// just started.
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { shellOf } from "../../support/service/documented-commands.ts";
import { instanceOf, startService } from "../../support/service/service-process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Some twenty processes, one after the other: a busy machine takes a minute for them. */
const timeout = 240_000;

it("examples/tour.sh shows an account, a link, its visits, its story, its proof, a webhook and a rebuild", {
  timeout,
}, async () => {
  const folder = await temporaryFolder();
  const instance = await instanceOf(join(folder.path, "data"), { WEBHOOK_ALLOW_PRIVATE: "true" });
  const service = await startService(instance);
  const bin = join(folder.path, "bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  await symlink(join(root, "examples"), join(folder.path, "examples"));
  const linkledger = `#!/bin/sh\nexec node "${root}src/cli.ts" "$@"\n`;
  await writeFile(join(bin, "linkledger"), linkledger, { mode: 0o700 });
  const receiver = String(await freePort());
  const pages = [
    await readFile(join(root, "examples/tour.sh"), "utf8"),
    shellOf("docs/api.md"),
    shellOf("docs/webhooks.md", "See one on your machine"),
    shellOf("docs/how-it-works.md"),
  ];
  const pasted = pages
    .join("\n")
    .replaceAll("localhost:3000", `localhost:${instance.PORT}`)
    .replaceAll("127.0.0.1:4000", `127.0.0.1:${receiver}`)
    .replace("PORT=4000", `PORT=${receiver}`);
  const environment = childEnvironment(instance);
  try {
    const { stdout } = await promisify(execFile)("sh", ["-ec", pasted], {
      cwd: folder.path,
      env: { ...environment, PATH: `${bin}:${environment.PATH}` },
    });
    const readme = await readFile(join(root, "README.md"), "utf8");
    const answer = (text: string) => /^\{"short_url".*\}$/m.exec(text)?.[0] ?? "{}";
    expect(Object.keys(JSON.parse(answer(readme)))).toEqual(Object.keys(JSON.parse(answer(stdout))));
    expect(pages[0]).toContain(`$(${/^curl .*shorten.*$/m.exec(readme)?.[0]})`);
    expect(stdout).toContain('"long_url":"https://example.com/spring?utm_source=newsletter"');
    expect(stdout).toContain("HTTP/1.1 301 Moved Permanently");
    expect(stdout).toMatch(/"totalClicks":2,"actualClicks":1,"previews":1,"qrScans":0/);
    expect(stdout).toContain("The API key “first” created this link to");
    expect(stdout).toMatch(/^Proved: all 6 events/m);
    expect(stdout).toContain('"title":"Summer"');
    expect(stdout).toMatch(/^\S+ link\.clicked http:\/\/localhost:\d+\/\w{7}$/m);
    expect(stdout).toContain("delivered");
    expect(stdout).toContain("The documents are what the log gives");
  } finally {
    await service.stop();
    await folder.remove();
  }
});
