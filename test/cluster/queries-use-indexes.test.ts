// Every command that a service sends to MongoDB while lists, pages and numbers are asked for and its jobs run: each finds
// documents by an index of their collection, and sorts them by its order. Compatible servers don't explain alike.
import { MongoClient } from "mongodb";
import { expect, it, onTestFinished } from "vitest";
import { startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import { ADMIN_TOKEN } from "../support/portal/operator.ts";
import { until } from "../support/runtime/until.ts";
import { tapMongodb } from "../support/servers/mongodb-tap.ts";
import { askForEverything } from "../support/service/ask-for-everything.ts";

type Filter = Record<string, unknown>;
type Search = { collection: string; command: string; filter: Filter; sort: Record<string, number> };
/** The fields of an index, in their order. */
type Indexes = ReadonlyMap<string, readonly string[][]>;

/** What reads a whole collection in good order, and why. */
const READ_WHOLE: readonly [RegExp, string][] = [
  [/^find docs__checkpoints \{\}/, "a few documents"],
  [/^(find|aggregate) [\w-]+ \{\} \{\}$/, "a build is counted once"],
  [/^find docs_click-hours \{"hour":"range"\}/, "a document an hour of the range"],
];

onOwnServers(() =>
  it("use an index of their collection", { timeout: 300_000 }, async () => {
    const searches = new Map<string, Search>();
    const cluster = await startCluster({ SIGN_UP: "open", ADMIN_TOKEN });
    onTestFinished(() => cluster.stop());
    const tap = await tapMongodb(String(cluster.environment.MONGODB_URL), (command) => {
      for (const search of searchesOf(command)) searches.set(shapeOf(search), search);
    });
    onTestFinished(() => tap.close());
    const service = await cluster.start("redirect,api,portal,projector,webhooks", { MONGODB_URL: tap.url });
    const member = await cluster.member("developer");
    await service.ready();
    await askForEverything(service.port, member);
    await until("the jobs that look for links", () =>
      [...searches.keys()].some((one) => one.includes("hasDueLimit")),
    );
    await service.end();
    const client = new MongoClient(String(cluster.environment.MONGODB_URL));
    const indexes = new Map<string, string[][]>();
    for (const { collection } of searches.values()) {
      const found = await client
        .db()
        .collection(collection)
        .indexes()
        .catch(() => []);
      indexes.set(
        collection,
        found.map(({ key }) => Object.keys(key)),
      );
    }
    await client.close();
    expect(searches.size).toBeGreaterThan(60);
    const unindexed = [...searches]
      .filter(([, search]) => !isIndexed(search, indexes))
      .map(([shape]) => shape);
    expect(unindexed.filter((shape) => !READ_WHOLE.some(([pattern]) => pattern.test(shape)))).toEqual([]);
  }),
);

function searchesOf(command: Record<string, unknown>): Search[] {
  const [[name = "", collection] = []] = Object.entries(command);
  const search = (filter: unknown, sort: unknown = {}) => ({
    collection: String(collection),
    command: name,
    filter: flat(filter as Filter),
    sort: sort as Record<string, number>,
  });
  const list = (of: unknown) => (of ?? []) as { q: Filter; $match?: Filter }[];
  if (name === "find") return [search(command.filter ?? {}, command.sort)];
  if (name === "findAndModify" || name === "distinct") return [search(command.query ?? {}, command.sort)];
  if (name === "update") return list(command.updates).map(({ q }) => search(q));
  if (name === "delete") return list(command.deletes).map(({ q }) => search(q));
  if (name === "aggregate") return [search(list(command.pipeline)[0]?.$match ?? {})];
  return [];
}

/** Without its `$and`. */
function flat(filter: Filter): Filter {
  const { $and = [], ...own } = filter;
  return Object.assign(own, ...($and as Filter[]).map(flat));
}

function shapeOf({ command, collection, filter, sort }: Search): string {
  const shape = Object.fromEntries(
    Object.entries(filter).map(([field, value]) => [field, isEqual(value) ? "=" : "range"]),
  );
  return `${command} ${collection.replace(/_b\d+$/, "")} ${JSON.stringify(shape)} ${JSON.stringify(sort)}`;
}

function isEqual(value: unknown): boolean {
  if (value === null || typeof value !== "object" || value instanceof Date) return true;
  return Object.keys(value).every((operator) => operator === "$eq");
}

/**
 * By `_id`, or by an index whose first fields are those that are compared for equality, followed by those of the sort, or by
 * one that is a range or a list.
 */
function isIndexed({ collection, filter, sort }: Search, indexes: Indexes): boolean {
  const sorted = Object.keys(sort);
  const isById = filter._id !== undefined && sorted.every((field) => field === "_id");
  if (isById) return true;
  const isWhole = Object.keys(filter).length === 0;
  return [["_id"], ...(indexes.get(collection) ?? [])].some((fields) => {
    const equal = fields.findIndex((field) => filter[field] === undefined || !isEqual(filter[field]));
    const prefix = equal < 0 ? fields.length : equal;
    const next = fields[prefix];
    const isFound = prefix > 0 || (next !== undefined && filter[next] !== undefined);
    const isSorted = sorted.every((field, n) => fields[prefix + n] === field);
    return isSorted && (isFound || (isWhole && sorted.length > 0));
  });
}
