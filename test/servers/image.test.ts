// The image without an engine: each instruction of the Dockerfile is carried out by hand in folders, the last stage run as
// its user, who can write nowhere but where the Compose files give volumes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, cp, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { freePort } from "../support/servers/free-port.ts";
import { send } from "../support/service/ask.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** `nobody`, for the image's user `node`. */
const USER = 65_534;
const WRITABLE = ["data", "backups"];

type Stage = { folder: string; workdir: string; user: number; env: Record<string, string> };
type Command = { entrypoint: string[]; cmd: string[]; health: string[] };

/** A line an instruction, without comments. */
async function instructions(): Promise<[string, string][]> {
  const text = (await readFile(join(root, "Dockerfile"), "utf8")).replaceAll(/^#.*\n/gm, "");
  const lines = text.replaceAll(/\\\n\s*/g, "").split("\n");
  return lines.filter(Boolean).map((line) => {
    const [name = "", ...rest] = line.split(" ");
    return [name, rest.join(" ").trim()];
  });
}

it.skipIf(process.getuid?.() !== 0)(
  "is built, answers, counts and backs up as a user who can write nowhere but to its volumes",
  { timeout: 600_000 },
  async () => {
    const own = await temporaryFolder();
    onTestFinished(() => own.remove());
    const bin = join(own.path, "bin");
    await chmod(own.path, 0o755);
    await mkdir(bin);
    // The base image's.
    await copyFile(process.execPath, join(bin, "node"));
    const given = { PATH: `${bin}:${process.env.PATH}`, HOST: "127.0.0.1", PORT: String(await freePort()) };
    const { stage, command } = await build(own.path, given);
    // What a read-only file system does, and other users' files.
    await run(["chmod", "-R", "a-w", join(stage.folder, "app")], { ...stage, user: 0 });
    const before = await listed(stage);

    const service = child([...command.entrypoint, ...command.cmd], stage);
    onTestFinished(() => ended(service, "SIGKILL"));
    await until("the health check", async () => (await exitOf(command.health, stage)) === 0, {
      withinMs: 200_000,
    });
    const [, uids] = /^Uid:\s+(.*)$/m.exec(await readFile(`/proc/${service.pid}/status`, "utf8")) ?? [];
    expect(new Set(uids?.split("\t"))).toEqual(new Set([String(USER)]));
    const linkledger = (words: string, more = {}) =>
      run([...command.entrypoint, ...words.split(" "), "--json"], {
        ...stage,
        env: { ...stage.env, ...more },
      });
    const { key } = JSON.parse(await linkledger("account create --email a@example.com --key"));
    const url = "https://example.com/";
    const port = Number(given.PORT);
    const made = await send<{ slug: string }>(port, "/api/v1/shorten", {
      method: "POST",
      key,
      body: { url },
    });
    expect((await send(port, `/${made.body.slug}`, {})).headers.location).toBe(url);

    // Made of files that the image has.
    expect((await send(port, "/sdk.tgz", {})).headers["content-type"]).toBe("application/gzip");

    const BACKUPS = join(stage.folder, "backups");
    const backing = {
      ...stage,
      env: { ...stage.env, BACKUPS, BACKUPS_KEPT: "2", BACKUP_EVERY_SECONDS: "1" },
    };
    expect(await exitOf(["/bin/sh", "deploy/backup/is-backed-up.sh"], backing)).toBe(1);
    const backup = child(["/bin/sh", "deploy/backup/back-up.sh"], backing);
    onTestFinished(() => ended(backup, "SIGKILL"));
    const whole = async () => (await readdir(BACKUPS)).filter((name) => name.endsWith("Z")).sort();
    const seen = new Set<string>();
    await until(
      "three copies, of which two are kept",
      async () => {
        for (const name of await whole()) seen.add(name);
        return seen.size >= 3;
      },
      { withinMs: 200_000 },
    );
    expect(await exitOf(["/bin/sh", "deploy/backup/is-backed-up.sh"], backing)).toBe(0);
    await ended(backup, "SIGTERM");
    const kept = await whole();
    expect(kept.length).toBeLessThanOrEqual(3);
    expect(kept).not.toContain([...seen].sort()[0]);
    await ended(service, "SIGTERM");
    expect(service.exitCode).toBe(0);
    const restored = { ...stage.env, DATA_DIR: join(BACKUPS, kept.at(-1) as string) };
    const again = child([...command.entrypoint, ...command.cmd], { ...stage, env: restored });
    onTestFinished(() => ended(again, "SIGKILL"));
    await until("the health check", async () => (await exitOf(command.health, stage)) === 0, {
      withinMs: 200_000,
    });
    const { accounts } = JSON.parse(await linkledger("account list", restored));
    expect(accounts).toMatchObject([{ email: "a@example.com" }]);
    await ended(again, "SIGTERM");
    expect(await listed(stage)).toEqual(before);
  },
);

/** `given`: what the machine says instead of the image. */
async function build(
  folder: string,
  given: Record<string, string>,
): Promise<{ stage: Stage; command: Command }> {
  const stages = new Map<string, Stage>();
  const command: Command = { entrypoint: [], cmd: [], health: [] };
  const allowed = (await readFile(join(root, ".dockerignore"), "utf8"))
    .split("\n")
    .flatMap((line) => /^!(.+)/.exec(line)?.[1] ?? []);
  let stage: Stage | undefined;
  for (const [name, text] of await instructions()) {
    if (name === "FROM") {
      const as = / AS (\S+)/.exec(text)?.[1] ?? "last";
      stage = { folder: join(folder, as), workdir: "/", user: 0, env: { ...given } };
      await mkdir(stage.folder);
      stages.set(as, stage);
      continue;
    }
    if (!stage) throw new Error("the Dockerfile begins without FROM");
    const here = stage;
    const json = (list: string): string[] => JSON.parse(list).map((word: string) => placed(word, here));
    if (name === "WORKDIR") {
      here.workdir = text;
      await mkdir(join(here.folder, text), { recursive: true });
    } else if (name === "ENV")
      for (const [, variable = "", value = ""] of text.matchAll(/(\w+)=(\S+)/g))
        here.env[variable] = given[variable] ?? placed(value, here);
    else if (name === "USER") here.user = text === "node" ? USER : Number.NaN;
    else if (name === "COPY") await copy(text, here, stages, allowed);
    else if (name === "RUN")
      await run(["/bin/sh", "-ec", placed(text, here).replace("node:node", `${USER}:${USER}`)], here);
    else if (name === "HEALTHCHECK") command.health = json(text.slice(text.indexOf("[")));
    else if (name === "ENTRYPOINT") command.entrypoint = json(text);
    else if (name === "CMD") command.cmd = json(text);
    else if (!["VOLUME", "EXPOSE"].includes(name)) throw new Error(`unknown instruction ${name}`);
  }
  if (!stage) throw new Error("the Dockerfile has no stage");
  return { stage, command };
}

/** Absolute paths of the image, in the stage's folder. */
function placed(text: string, { folder }: Stage): string {
  return text.replaceAll(/(?<![\w/.:])\/(app|data|backups)(?=$|[\s/"';])/g, `${folder}/$1`);
}

async function copy(text: string, to: Stage, stages: Map<string, Stage>, allowed: readonly string[]) {
  const words = text.split(" ");
  const from = /^--from=(.+)/.exec(words[0] ?? "")?.[1];
  const paths = from === undefined ? words : words.slice(1);
  const target = paths.at(-1) as string;
  for (const source of paths.slice(0, -1)) {
    if (from === undefined && !allowed.some((path) => source === path || source.startsWith(`${path}/`)))
      throw new Error(`${source} is not sent to the engine: .dockerignore leaves it out`);
    const full = from === undefined ? join(root, source) : join((stages.get(from) as Stage).folder, source);
    const into = join(to.folder, resolve(to.workdir, target));
    const place = target.endsWith("/") ? join(into, basename(source)) : into;
    await mkdir(dirname(place), { recursive: true });
    await cp(full, place, { recursive: true, verbatimSymlinks: true });
  }
}

function child(
  [program = "", ...args]: readonly string[],
  { folder, workdir, user, env }: Stage,
): ChildProcess {
  return spawn(program, args, {
    ...{ cwd: join(folder, workdir), env, uid: user, gid: user },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function exitOf(words: readonly string[], stage: Stage): Promise<number> {
  const [code] = await once(
    child(words, stage).on("error", () => undefined),
    "exit",
  );
  return code;
}

/** What it prints. @throws with what it said */
async function run(words: readonly string[], stage: Stage): Promise<string> {
  const running = child(words, stage);
  let [out, said] = ["", ""];
  running.stdout?.on("data", (chunk) => (out += chunk));
  running.stderr?.on("data", (chunk) => (said += chunk));
  const [code] = await once(running, "close");
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${said} ${out}`);
  return out;
}

async function ended(running: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  running.kill(signal);
  await once(running, "exit");
}

/** Every file outside of the volumes, with its time. */
async function listed(stage: Stage): Promise<string[]> {
  const skipped = WRITABLE.map((name) => `-path ${join(stage.folder, name)} -prune -o`).join(" ");
  const out = await run(["/bin/sh", "-c", `find ${stage.folder} ${skipped} -printf '%p %T@\n'`], {
    ...stage,
    user: 0,
  });
  return out.split("\n").sort();
}
