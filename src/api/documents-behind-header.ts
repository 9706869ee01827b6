// Says in every answer that is made of documents how far they are behind the log, by one header; portal and console show it.
import type { FastifyReply } from "fastify";
import type { DocumentsBehind } from "../queries/documents-behind.ts";
import type { Api } from "./fastify.ts";

const HEADER = "x-documents-behind-ms";
/** What is read of the API, the portal and the console, but for the files of their pages. */
const READ = /^\/(api\/v1|portal|admin)(?!\/assets\/)(?=[/?]|$)/;

/** `base`: serves the base host only. */
export function documentsBehindHeader(base: Api, behind: DocumentsBehind): void {
  base.addHook("onRequest", async (request, reply) => {
    if (request.method !== "GET" || !READ.test(request.url)) return;
    const ms = await behind();
    if (ms > 0) reply.header(HEADER, String(ms));
  });
}

/** Milliseconds; 0 where they are not late. */
export function saidBehindMs(reply: FastifyReply): number {
  return Number(reply.getHeader(HEADER) ?? 0);
}
