// Reads the token of an `Authorization: Bearer` header (RFC 6750): an API key, or the operator's.
import type { FastifyRequest } from "fastify";

export function bearerToken({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  return /^Bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1];
}
