// POST /api/v1/shorten/bulk: up to 100 links; an invalid item does not fail the others (interface, part 4).
import type { Tier } from "../../events/vocabulary.ts";
import { DomainError } from "../../runtime/errors.ts";
import { isClientError, Refused } from "../../runtime/refused.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import { type UrlSafety, validUrl } from "./accept-url.ts";
import { type CreateLinkDeps, createLink, memoizedAccount } from "./create-link.ts";
import { type LinkObject, ShortenRequest } from "./link-object.ts";

/** `code`: the stable one of the error that the single request would get. */
type BulkError = { index: number; url: string; error: string; code: string };

/** Bulk response of the interface, part 4; `index` is the position in the request in both lists. */
export type BulkAnswer = {
  success: boolean;
  tier: Tier;
  total: number;
  created: number;
  failed: number;
  results: ({ index: number } & Omit<LinkObject, "qr_download_url">)[];
  errors: BulkError[];
};

export type BulkDeps = CreateLinkDeps & {
  /** Logs that items failed by an error other than a refusal. */
  log?: { error: (details: object, message: string) => void } | undefined;
};

type ParsedItem = ReturnType<typeof ShortenRequest.safeParse>;

const FAILED = "Failed to create the short link";

/**
 * `links`: 1 to 100 items of any shape. `isFinal`: false when an item failed by an error other than a refusal: repeated, the
 * request may make it.
 * @throws tier_required, account_not_found for a closed account; when nothing was created and an item failed by an error
 *   other than a refusal, that error, such as StoreUnavailable, as for a single link
 */
export async function createLinksInBulk(
  deps: BulkDeps,
  context: CommandContext,
  by: Caller,
  links: readonly unknown[],
  options: { idempotency?: string | undefined } = {},
): Promise<{ bulk: BulkAnswer; isFinal: boolean }> {
  requireDeveloper(by.tier, "Bulk requests");
  const account = memoizedAccount(deps, by);
  const results: BulkAnswer["results"] = [];
  const errors: BulkError[] = [];
  const failures: unknown[] = [];
  const items = links.map((item) => ShortenRequest.safeParse(item));
  const asked = { ...deps, urlSafety: await askedAtOnce(deps, items, verifiedHosts(await account())) };
  const createItem = async (index: number): Promise<void> => {
    const idempotency = options.idempotency === undefined ? undefined : `${options.idempotency}/${index}`;
    try {
      const request = accepted(items[index] as ParsedItem);
      const { link } = await createLink(asked, context, by, request, { account, idempotency });
      const { qr_download_url: _, ...result } = link;
      results.push({ index, ...result });
    } catch (error) {
      const isTheirs = isClientError(error);
      if (!isTheirs) failures.push(error);
      errors.push({
        index,
        url: urlOf(links[index]),
        error: isTheirs ? error.message : FAILED,
        code: error instanceof DomainError ? error.code : "internal_error",
      });
    }
  };
  // All at once, so that their appends share a transaction.
  await Promise.all(
    groupsOf(items).map(async (group) => {
      for (const index of group) await createItem(index);
    }),
  );
  if (results.length === 0 && failures.length > 0) throw failures[0];
  if (failures.length > 0) deps.log?.error({ err: failures[0], items: failures.length }, "bulk items failed");
  results.sort((a, b) => a.index - b.index);
  errors.sort((a, b) => a.index - b.index);
  const counts = { total: links.length, created: results.length, failed: errors.length };
  const bulk = { success: results.length > 0, tier: by.tier, ...counts, results, errors };
  return { bulk, isFinal: failures.length === 0 };
}

/** Asks about the valid URLs of all items in one request, each once; what is returned answers from that. */
async function askedAtOnce(
  deps: BulkDeps,
  items: readonly ParsedItem[],
  ownHosts: readonly string[],
): Promise<UrlSafety> {
  const urls = new Map<string, URL>();
  for (const { data } of items) {
    if (!data) continue;
    // Refused again, with its reason, when its item is created.
    const url = await validUrl(deps, data.url, async () => ownHosts).catch(() => undefined);
    if (url) urls.set(url.href, url);
  }
  const answers = await deps.urlSafety([...urls.values()]);
  const known = new Map([...urls.keys()].map((href, n) => [href, answers[n]]));
  return async (asked) => asked.map(({ href }) => known.get(href) ?? "unknown");
}

/** @throws invalid_item */
function accepted(parsed: ParsedItem): ShortenRequest {
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join(".");
  throw new Refused(
    "invalid_item",
    `Invalid link: ${field ? `${field} must be a string` : (issue?.message ?? "not a link object")}`,
  );
}

function urlOf(item: unknown): string {
  const url = (item as { url?: unknown } | null | undefined)?.url;
  return typeof url === "string" ? url : "";
}

/** Groups the indexes of items with equal custom slugs, which run sequentially so that the first one wins. */
function groupsOf(items: readonly ParsedItem[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [index, { data }] of items.entries()) {
    const slug = data?.customSlug?.toLowerCase();
    const group = slug === undefined ? String(index) : `${data?.domain_id?.toLowerCase()}/${slug}`;
    groups.set(group, [...(groups.get(group) ?? []), index]);
  }
  return [...groups.values()];
}
