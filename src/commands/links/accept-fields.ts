// How the fields of a request become the options that events hold, each by its kind.
import { cleanText } from "../../events/classification/clean-text.ts";
import type { OptionChanges } from "../../events/link-options.ts";
import type { Tier } from "../../events/vocabulary.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { requireDeveloper } from "../caller.ts";
import { type AcceptUrlDeps, acceptUrl } from "./accept-url.ts";
import { utc } from "./fields/field-schemas.ts";
import {
  FIELD_NAMES,
  type FieldName,
  fieldRow,
  isEmptyField,
  type LinkFields,
} from "./fields/link-fields.ts";
import { acceptedRules, type RequestedRules } from "./fields/rule-fields.ts";
import { keepLinkPassword } from "./link-password.ts";

/** Clearing them is free, as for an account that had the plan before. @throws tier_required */
export function requireTierOf(fields: LinkFields, tier: Tier): void {
  for (const name of FIELD_NAMES)
    if (fieldRow(name).isDeveloper && !isEmptyField(fields[name]))
      requireDeveloper(tier, `Links with ${name}`, name);
}

export type AcceptFieldsDeps = AcceptUrlDeps & { secrets: Secrets; newId: () => string };

/** `unchecked`: URLs that were accepted while the remote safety check was unavailable. */
type AcceptedFields = { options: OptionChanges; unchecked: string[] };

/**
 * The options that the fields say, as events hold them; fields that are absent change nothing, empty ones clear. A
 * password's hash is in the secrets when this resolves. `ownHosts`: as for acceptUrl.
 * @throws invalid_url, unsafe_url with the field's name
 */
export async function acceptFields(
  deps: Omit<AcceptFieldsDeps, "secrets"> & { secrets: Pick<Secrets, "put"> },
  fields: LinkFields,
  ownHosts: () => Promise<readonly string[]>,
): Promise<AcceptedFields> {
  const unchecked: string[] = [];
  const urlOf = async (given: string, field: string) => {
    try {
      const { longUrl, isChecked } = await acceptUrl(deps, given, ownHosts);
      if (!isChecked) unchecked.push(longUrl);
      return longUrl;
    } catch (error) {
      if (!isRefused(error, "invalid_url", "unsafe_url")) throw error;
      throw new Refused(error.code, `${field}: ${error.message}`, { field });
    }
  };
  const options: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const given = fields[name];
    if (given === undefined) continue;
    options[fieldRow(name).option] = isEmptyField(given) ? null : await accepted(name, given);
  }
  return { options, unchecked };

  async function accepted(name: FieldName, given: unknown): Promise<unknown> {
    const { kind, most = Number.POSITIVE_INFINITY } = fieldRow(name);
    switch (kind) {
      case "lines":
        return cleanLines(String(given), most) || null;
      case "text":
        return cleanText(String(given), most) || null;
      case "list":
        return [...new Set((given as string[]).map((value) => cleanText(value, most)))];
      case "time":
        return utc(String(given));
      case "url":
        return await urlOf(String(given), name);
      case "password":
        return await keepLinkPassword(deps, String(given));
      case "forwarding":
        return given === "destination" ? true : given;
      case "rules":
        return await acceptedRules(given as RequestedRules, urlOf);
      default:
        return given;
    }
  }
}

function cleanLines(given: string, most: number): string {
  const lines = given.split(/\r?\n/).map((line) => cleanText(line, most));
  return lines.join("\n").trim();
}

/** The URLs that a request names, such as for one request to the safety check about many links. */
export function urlsOf(request: LinkFields & { url?: string | undefined }): string[] {
  const { url, rules } = request;
  const others = FIELD_NAMES.flatMap((name) =>
    fieldRow(name).kind === "url" && request[name] ? [String(request[name])] : [],
  );
  return [...(url === undefined ? [] : [url]), ...others, ...(rules ?? []).map((rule) => rule.url)];
}
