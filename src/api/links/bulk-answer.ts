// Items of bulk requests, each read by its own schema so that an invalid one stops no other, and what is answered of those that
// failed.
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { OUR_WORDS } from "../../commands/issue-sentence.ts";
import type { BulkItem, BulkOutcome } from "../../commands/links/bulk/bulk-requests.ts";
import { isClientError, Refused } from "../../commands/refusals.ts";
import { inSlices } from "../../runtime/threads/time-slices.ts";
import { httpErrorOf } from "../http-errors.ts";

export async function readItems<Item>(
  items: readonly unknown[],
  schema: z.ZodType<Item>,
): Promise<BulkItem<Item>[]> {
  return await inSlices(items, async (item) => acceptedItem(schema.safeParse(item, OUR_WORDS)));
}

/** The item, or a refusal that names its field. */
export function acceptedItem<T>({ success, data, error }: z.ZodSafeParseResult<T>): BulkItem<T> {
  if (success) return data;
  const issue = error.issues[0];
  const field = issue?.path.join(".");
  const message = issue?.message ?? "not a link object";
  return new Refused("invalid_item", `Invalid link: ${field ? `${field} ${message}` : message}`);
}

/**
 * `named`: the member of an item by which an error names it. `failed`: what is said of an error other than a refusal, which is
 * logged; the answer is then not kept for the Idempotency-Key, so that a repeated request does the items that failed so.
 */
export function bulkAnswer<Name extends "url" | "slug">(
  request: FastifyRequest<{ Body: { links: unknown[] } }>,
  { results, failures }: BulkOutcome<unknown>,
  { named, failed }: { named: Name; failed: string },
) {
  const { caller, body } = request;
  const faults = failures.filter(({ error }) => !isClientError(error));
  if (faults.length > 0) {
    request.log.error({ err: faults[0]?.error, items: faults.length }, "bulk items failed");
    request.keyed = undefined;
  }
  const errors = failures.map(({ index, error }) => ({
    index,
    ...({ [named]: textOf(body.links[index], named) } as Record<Name, string>),
    error: isClientError(error) ? error.message : failed,
    code: httpErrorOf(error).code,
  }));
  const total = body.links.length;
  return { success: results.length > 0, tier: caller.tier, total, failed: errors.length, errors };
}

/** Empty where there is none. */
function textOf(item: unknown, member: string): string {
  const text = (item as Record<string, unknown> | null | undefined)?.[member];
  return typeof text === "string" ? text : "";
}
