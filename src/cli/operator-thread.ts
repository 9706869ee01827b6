// The operator thread of the service: runs commands that are given beside it (service/ask-service.ts) on stores of its own.
import type { Config } from "../config/config.ts";
import { lowerPriority } from "../runtime/threads/lower-priority.ts";
import { serveThread } from "../runtime/threads/serve-thread.ts";
import { openBackend } from "../service/stores/backend.ts";
import { openers } from "../stores/connections/openers.ts";
import { type Conversation, converse } from "./service/conversation.ts";

lowerPriority();
await serveThread<Config>((config, log) => {
  const { opener, close } = openers();
  const backend = opener(() =>
    openBackend(config, { isPrepared: true, log: (message) => log.warn(message) }),
  );
  const open = async () => ({ config, backend: await backend() });
  const conversations = new Map<string, Conversation>();
  const operator = {
    /** What is to be sent to a command's process. */
    answers(id: string, signal: AbortSignal) {
      const conversation = converse(open);
      conversations.set(id, conversation);
      signal.addEventListener("abort", () => {
        conversations.delete(id);
        conversation.hangUp();
      });
      return conversation.answers[Symbol.asyncIterator]();
    },
    /** What that process has sent. */
    take: async (id: string, bytes: Uint8Array) => conversations.get(id)?.take(bytes),
    /** Ends all commands as Ctrl-C does. */
    async interrupt() {
      for (const conversation of conversations.values()) conversation.interrupt();
    },
  };
  return { served: { operator: () => operator }, close };
});
