// Searches /docs: operations, fields, error codes, schemas and guides, by words.
import { ERROR_CAUSES } from "../openapi/error-causes.ts";
import { GUIDE, type Guide } from "./guides.ts";
import { type Entry, idOf, type Schemas, tagAddress } from "./operation-article.ts";
import { membersOf, schemaPage } from "./schema-members.ts";

export type Found = { kind: string; title: string; about: string; address: string };
/** `weight`: of two that fit as well, the lighter comes first. */
type Indexed = Found & { head: string; text: string; weight: number };

export const LONGEST_QUERY = 100;
const MOST_FOUND = 40;

export type DocsIndex = readonly Indexed[];

export function docsIndex(guides: readonly Guide[], entries: readonly Entry[], schemas: Schemas): DocsIndex {
  const index: Indexed[] = [];
  /** What has the same name and is said in the same words is found once. */
  const seen = new Set<string>();
  const add = (weight: number, found: Found, text = "", name = "") => {
    const same = `${found.kind} ${found.title} ${text === "" ? found.address : text}`;
    if (seen.has(same)) return;
    seen.add(same);
    const [head, rest] = [folded(`${name} ${found.title}`), folded(`${found.about} ${text}`)];
    index.push({ ...found, head, text: rest, weight });
  };
  for (const { name, title, lead, text } of guides)
    add(0, { kind: "Guide", title, about: lead, address: `/docs/${name}` }, text, name.slice(GUIDE.length));
  for (const { address, method, operation, isWebhook } of entries) {
    const { summary = address, description = "", parameters = [] } = operation;
    const at = `${tagAddress(operation)}#${idOf(operation)}`;
    const about = isWebhook ? `webhook ${address}` : `${method} ${address}`;
    add(1, { kind: isWebhook ? "Webhook" : "Request", title: summary, about, address: at }, description);
    for (const { name, description: meaning = "" } of parameters)
      add(3, { kind: "Parameter", title: name, about: `${summary}. ${meaning}`, address: at }, meaning);
  }
  for (const [status, causes] of Object.entries(ERROR_CAUSES))
    for (const [code, cause] of Object.entries(causes)) {
      const address = `/docs/error-codes#error-${code}`;
      add(2, { kind: "Error code", title: code, about: `${status}: ${cause}`, address });
    }
  for (const [name, schema] of Object.entries(schemas)) {
    const address = `/docs/${schemaPage(name)}#schema-${name}`;
    const members = membersOf(schema).filter((member) => member.name !== "");
    add(5, { kind: "Object", title: name, about: schema.description ?? "", address });
    for (const member of members)
      add(
        5,
        {
          kind: "Field",
          title: member.name,
          about: `${name}. ${member.schema.description ?? ""}`,
          address,
        },
        member.schema.description,
      );
  }
  return index;
}

/** Those that have every word, best first: by name, then by what is said of them. */
export function searchDocs(index: DocsIndex, query: string): Found[] {
  const words = folded(query).split(" ").filter(Boolean);
  if (words.length === 0) return [];
  const score = ({ head, text, weight }: Indexed) => {
    if (!words.every((word) => head.includes(word) || text.includes(word))) return undefined;
    const whole = words.join(" ");
    const inHead = words.every((word) => head.includes(word));
    const fit = head === whole ? 0 : head.startsWith(whole) ? 1 : inHead ? 2 : 3;
    return 2 * fit + weight;
  };
  return index
    .flatMap((entry) => {
      const found = score(entry);
      return found === undefined ? [] : [{ entry, found }];
    })
    .sort((a, b) => a.found - b.found)
    .slice(0, MOST_FOUND)
    .map(({ entry: { kind, title, about, address } }) => ({ kind, title, about, address }));
}

/** As words are compared: names of fields and codes by their parts, too. */
function folded(text: string): string {
  return text
    .slice(0, 20_000)
    .toLowerCase()
    .replace(/[_\s{}()/.,:`-]+/g, " ")
    .trim();
}
