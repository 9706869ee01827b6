// Reads the password of a posted form, before Fastify, which does not know the hosts of links.
import type { IncomingMessage } from "node:http";

/** A password of 128 characters, each percent-encoded, has less than 2 KB. */
const MOST_BYTES = 4_096;
const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i;

/**
 * `password`: empty where the body is no form, or has none. `"too large"`: the rest of the body has not been read.
 */
export type PostedForm = { password: string } | "too large";

export async function postedForm(request: IncomingMessage): Promise<PostedForm> {
  const body = await bodyOf(request);
  if (body === undefined) return "too large";
  if (!FORM.test(request.headers["content-type"] ?? "")) return { password: "" };
  return { password: new URLSearchParams(body.toString()).get("password") ?? "" };
}

/** As far as it came, where the client has gone: nobody reads the answer then. */
function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const end = () => resolve(Buffer.concat(chunks));
    // An iterator would destroy the connection when it is left early.
    request
      .on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MOST_BYTES) chunks.push(chunk);
        else resolve(undefined);
      })
      .on("end", end)
      .on("error", end)
      .on("close", end);
  });
}
