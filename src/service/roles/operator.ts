// Takes the operator's commands at a socket in the data folder. They run in a thread of their own, started when it is needed,
// as some of them read the whole log.
import { once } from "node:events";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { VERSION } from "../../config/version.ts";
import { inTime } from "../../runtime/pause.ts";
import type { Close } from "../../runtime/stop/stop-in-stages.ts";
import { type Thread, threadOf } from "../../runtime/threads/thread.ts";
import { storeError } from "../../stores/connections/errors.ts";
import { socketIn, socketOf } from "../stores/data-folder.ts";
import type { RoleContext } from "./role-context.ts";

/** The first line that a command reads: what follows it is understood by the same version alone. */
export const GREETING = `linkledger ${VERSION}\n`;

/** Of a socket, in bytes: of macOS, the shortest. */
const LONGEST_PATH = 103;
/** The thread ends after so long without a command. */
const IDLE_MS = 60_000;
/** Share of the stop for commands that say what they have done; the rest is for closing the thread. */
const COMMANDS_UNTIL = 0.7;

/** Of several workers one takes them; where the socket can't be opened, nobody. */
export async function openOperator({ config, log, group, onStop }: OperatorContext): Promise<void> {
  if (group && !group.takesCommands) return;
  const file = new URL("../../cli/operator-thread.ts", import.meta.url);
  const thread = threadOf({
    file,
    name: "operator",
    data: config,
    toError: storeError,
    log,
    idleMs: IDLE_MS,
  });
  const conversations = new Map<Socket, Promise<void>>();
  const server = createServer((socket) => {
    const conversation = relay(socket, thread).finally(() => conversations.delete(socket));
    conversations.set(socket, conversation);
  });
  let ownFolder: string | undefined;
  onStop(async (withinMs) => {
    server.close();
    const ended = Promise.all(conversations.values());
    if (conversations.size > 0) await thread.call("operator", "interrupt", []).catch(() => undefined);
    await inTime(withinMs * COMMANDS_UNTIL, ended);
    for (const socket of conversations.keys()) socket.destroy();
    await thread.close(withinMs * (1 - COMMANDS_UNTIL));
    if (ownFolder === undefined) return;
    await rm(socketIn(config.dataDir), { force: true });
    await rm(ownFolder, { recursive: true, force: true });
  });
  try {
    ownFolder = await listen(server, config.dataDir);
  } catch (err) {
    log.warn({ err }, "no commands are taken beside the service");
  }
}

type OperatorContext = Pick<RoleContext, "config" | "log" | "group"> & {
  onStop: (close: Close) => void;
};

/**
 * Takes over the socket of a service that was killed. Where its path is too long, or the file system has no sockets, it is in a
 * folder of its own, to which a link leads, and which it resolves with. @throws where another process listens, or no socket can be made
 */
async function listen(server: Server, dataDir: string): Promise<string | undefined> {
  const path = socketIn(dataDir);
  if (await answers(socketOf(dataDir))) throw new Error(`${path} is another process's`);
  await rm(path, { force: true });
  if (Buffer.byteLength(path) <= LONGEST_PATH && (await bind(server, path).catch(() => false)))
    return undefined;
  const folder = await mkdtemp(join(tmpdir(), "linkledger-commands-"));
  try {
    await bind(server, join(folder, "commands.sock"));
    await symlink(join(folder, "commands.sock"), path);
    return folder;
  } catch (error) {
    server.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Who may open it is an operator: nobody but the service's own user. */
async function bind(server: Server, path: string): Promise<true> {
  // Not by way of the primary of several workers.
  await once(server.listen({ path, exclusive: true }), "listening");
  await chmod(path, 0o600);
  return true;
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/** Passes bytes on in both directions, none faster than they are taken. Never rejects. */
async function relay(socket: Socket, thread: Thread): Promise<void> {
  const id = runtimeDeps.newId();
  const gone = new AbortController();
  const { signal } = gone;
  socket.on("close", () => gone.abort()).on("error", () => undefined);
  const passOn = async () => {
    for await (const bytes of socket) await thread.call("operator", "take", [id, bytes]);
  };
  try {
    socket.write(GREETING);
    passOn().catch(() => socket.destroy());
    for await (const bytes of thread.stream("operator", "answers", [id], signal))
      if (!socket.write(bytes as Uint8Array)) await once(socket, "drain", { signal });
    socket.destroySoon();
  } catch {
    // The command was ended, or the thread has died, which was logged.
    socket.destroy();
  }
}
