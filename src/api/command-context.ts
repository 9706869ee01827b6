// Where a command came from, as it is written into every event's metadata.
import type { FastifyRequest } from "fastify";
import type { CommandContext } from "../commands/caller.ts";

export function commandContext(request: FastifyRequest): CommandContext {
  return { requestId: request.id, actor: { type: "key", id: request.caller.keyId } };
}
