// The context of a command sent through the API, for the metadata of its events.
import type { FastifyRequest } from "fastify";
import type { CommandContext } from "../commands/caller.ts";

export function commandContext(request: FastifyRequest): CommandContext {
  return { requestId: request.id, actor: { type: "key", id: request.caller.keyId } };
}
