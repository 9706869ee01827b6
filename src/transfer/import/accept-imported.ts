// What an imported link carries becomes its options by the rules of a request, which nothing in a file gets
// around.

import type { z } from "zod";
import { OUR_WORDS } from "../../commands/issue-sentence.ts";
import { type AcceptedLink, acceptFields } from "../../commands/links/accept-fields.ts";
import type { AcceptUrlDeps } from "../../commands/links/accept-url.ts";
import { LinkFields } from "../../commands/links/fields/link-fields.ts";
import { isUsableHash } from "../../commands/links/link-password.ts";
import { composed } from "../../events/classification/clean-text.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { Failure } from "../../runtime/errors.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import type { ImportedFields, ImportedPassword } from "./imported.ts";

/** `url`: a destination of the link, beside what it carries. */
export type ImportedRequest = ImportedFields & { url?: string | undefined };

/**
 * `newId`: of the link's next password. `ownHosts`: as for acceptUrl.
 * @throws invalid_url, unsafe_url; Failure for fields that a link can't have, and for a hash that isn't
 * argon2id
 */
export async function acceptImported<Request extends ImportedRequest>(
  deps: AcceptUrlDeps & { newId: () => string },
  { url, password, ...others }: Request,
  ownHosts: readonly string[],
): Promise<AcceptedLink<Request["url"]>> {
  const text =
    typeof password === "object" && password !== null && "text" in password ? password.text : undefined;
  const parsed = LinkFields.safeParse(
    { ...others, ...(text !== undefined && { password: text }) },
    OUR_WORDS,
  );
  if (!parsed.success) throw refusedFields(parsed.error);
  const accepted = await acceptFields(deps, { url, ...parsed.data }, ownHosts);
  if (password === undefined || text !== undefined) return accepted;
  const { options, passwords } = accepted;
  const passwordId = password === null ? null : deps.newId();
  if (passwordId !== null && password !== null && password !== "replaced")
    passwords.push({ passwordId, hash: await acceptHash(password) });
  return { ...accepted, options: { ...options, passwordId } };
}

/** @throws Failure */
async function acceptHash(password: Exclude<ImportedPassword, "replaced">): Promise<string> {
  if ("hash" in password && (await isUsableHash(password.hash))) return password.hash;
  throw new Failure("its password is no argon2id hash of a usual cost");
}

function refusedFields(error: z.ZodError): Failure {
  const [issue] = error.issues;
  return new Failure(`${issue?.path.join(".")} ${issue?.message}`);
}

/** Texts for people that are longer than they may be here: shortened, as the link is worth more. Returns which. */
export function fitted(fields: ImportedFields): { fields: ImportedFields; shortened: string[] } {
  const { title, comments, tags } = fields;
  const shortened = new Set<string>();
  /** What is no text is left to the schema. */
  const short = <T>(name: "title" | "comments" | "tags", text: T, most: number): T => {
    if (typeof text !== "string" || composed(text).length <= most) return text;
    shortened.add(name);
    return cutText(composed(text), most) as T;
  };
  const most = OPTION_LIMITS;
  const fit = {
    title: short("title", title, most.title),
    comments: short("comments", comments, most.comments),
    tags: Array.isArray(tags) ? tags.slice(0, most.tags).map((tag) => short("tags", tag, most.tag)) : tags,
  };
  if (Array.isArray(tags) && tags.length > most.tags) shortened.add("tags");
  return { fields: { ...fields, ...fit }, shortened: [...shortened] };
}
