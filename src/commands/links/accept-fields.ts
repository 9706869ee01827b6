// How the fields of a request become the options that events hold, each by its kind.
import { cleanText } from "../../events/classification/clean-text.ts";
import type { OptionChanges } from "../../events/link-options.ts";
import type { Tier } from "../../events/vocabulary.ts";
import { requireDeveloper } from "../caller.ts";
import { isRefused, Refused } from "../refusals.ts";
import { type AcceptUrlDeps, acceptUrl, safetyOfAll } from "./accept-url.ts";
import { utc } from "./fields/field-schemas.ts";
import {
  FIELD_NAMES,
  type FieldName,
  fieldRow,
  isEmptyField,
  type LinkFields,
} from "./fields/link-fields.ts";
import { acceptedRules, type RequestedRules } from "./fields/rule-fields.ts";
import type { NewLinkPassword } from "./link-password.ts";

/** Clearing them is free, as for an account that had the plan before. @throws tier_required */
export function requireTierOf(fields: LinkFields, tier: Tier): void {
  for (const name of FIELD_NAMES)
    if (fieldRow(name).isDeveloper && !isEmptyField(fields[name]))
      requireDeveloper(tier, `Links with ${name}`, name);
}

/**
 * A new end that is over already would be a mistake. `was`: the link's end, which may be over. Imports keep what their origin
 * says. @throws invalid_request
 */
export function refusePastEnd({ expires_at: end }: LinkFields, now: Date, was?: string): void {
  const at = end ? utc(end) : undefined;
  if (at === undefined || at === was || at > now.toISOString()) return;
  throw new Refused("invalid_request", "expires_at must be in the future", { field: "expires_at" });
}

export type AcceptFieldsDeps = AcceptUrlDeps & { newId: () => string };

/** `url`: where the link leads, beside what it carries. */
export type RequestedLink = LinkFields & { url?: string | undefined };

/**
 * `unchecked`: URLs that were accepted while the remote safety check was unavailable. `passwords`: to be kept before the event
 * that names them.
 */
export type AcceptedLink<Url = string | undefined> = {
  longUrl: Url;
  options: OptionChanges;
  unchecked: string[];
  passwords: NewLinkPassword[];
};

/**
 * The options that the fields say, as events hold them; fields that are absent change nothing, empty ones clear. Whether the
 * URLs are safe is asked in one request. `ownHosts`: as for acceptUrl.
 * @throws invalid_url, unsafe_url, for other fields than `url` with the field's name
 */
export async function acceptFields<Request extends RequestedLink>(
  deps: AcceptFieldsDeps,
  { url, ...fields }: Request,
  ownHosts: readonly string[],
): Promise<AcceptedLink<Request["url"]>> {
  const unchecked: string[] = [];
  const passwords: NewLinkPassword[] = [];
  const urlSafety = await safetyOfAll(deps, urlsOf({ url, ...fields }), ownHosts);
  const acceptedUrl = async (text: string) => {
    const { longUrl, isChecked } = await acceptUrl({ ...deps, urlSafety }, text, ownHosts);
    if (!isChecked) unchecked.push(longUrl);
    return longUrl;
  };
  const urlOf = async (text: string, field: string) => {
    try {
      return await acceptedUrl(text);
    } catch (error) {
      if (!isRefused(error, "invalid_url", "unsafe_url")) throw error;
      throw new Refused(error.code, `${field}: ${error.message}`, { field });
    }
  };
  const longUrl = url === undefined ? undefined : await acceptedUrl(url);
  const options: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const value = fields[name];
    if (value === undefined) continue;
    options[fieldRow(name).option] = isEmptyField(value) ? null : await optionOf(name, value);
  }
  return { longUrl, options, unchecked, passwords };

  async function optionOf(name: FieldName, value: unknown): Promise<unknown> {
    const { kind, most = Number.POSITIVE_INFINITY } = fieldRow(name);
    switch (kind) {
      case "lines":
        return cleanLines(String(value), most) || null;
      case "text":
        return cleanText(String(value), most) || null;
      case "list":
        return [...new Set((value as string[]).map((text) => cleanText(text, most)))];
      case "time":
        return utc(String(value));
      case "url":
        return await urlOf(String(value), name);
      case "password": {
        const passwordId = deps.newId();
        passwords.push({ passwordId, text: String(value) });
        return passwordId;
      }
      case "forwarding":
        return value === "destination" ? true : value;
      case "rules":
        return await acceptedRules(value as RequestedRules, urlOf);
      default:
        return value;
    }
  }
}

function cleanLines(text: string, most: number): string {
  const lines = text.split(/\r?\n/).map((line) => cleanText(line, most));
  return lines.join("\n").trim();
}

/** The URLs that a request names, such as for one request to the safety check about many links. */
export function urlsOf(request: RequestedLink): string[] {
  const { url, rules } = request;
  const others = FIELD_NAMES.flatMap((name) =>
    fieldRow(name).kind === "url" && request[name] ? [String(request[name])] : [],
  );
  return [...(url === undefined ? [] : [url]), ...others, ...(rules ?? []).map((rule) => rule.url)];
}
