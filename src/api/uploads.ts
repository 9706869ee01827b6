// Forms with a file: read as other forms are, with the bytes of each file.

import { Refused } from "../commands/refusals.ts";
import type { Api } from "./fastify.ts";

/** Bytes of what a form with one file has beside it. */
export const FORM_FRAME_BYTES = 4_096;

/** For the routes of `app`, each of which has a `bodyLimit`. */
export function takeUploads(app: Api): void {
  app.addContentTypeParser(
    "multipart/form-data",
    { parseAs: "buffer" },
    async ({ headers }: { headers: { "content-type"?: string | undefined } }, body: string | Buffer) =>
      await formOf(headers["content-type"] ?? "", Buffer.from(body)),
  );
}

type Part = string | Uint8Array;

/** By the parser of Node's own fetch. What is there several times is a list; a file that nobody chose is not there. @throws invalid_request */
async function formOf(contentType: string, body: Buffer): Promise<Record<string, Part | Part[]>> {
  const answer = new Response(new Uint8Array(body), { headers: { "content-type": contentType } });
  const form = await answer.formData().catch(() => {
    throw new Refused("invalid_request", "This form could not be read");
  });
  const parts: Record<string, Part[]> = Object.create(null);
  for (const [name, value] of form) {
    const part = typeof value === "string" ? value : new Uint8Array(await value.arrayBuffer());
    if (part.length === 0 && typeof part !== "string") continue;
    parts[name] ??= [];
    parts[name].push(part);
  }
  return Object.fromEntries(
    Object.entries(parts).map(([name, [first = "", ...more]]) => [
      name,
      more.length > 0 ? [first, ...more] : first,
    ]),
  );
}
