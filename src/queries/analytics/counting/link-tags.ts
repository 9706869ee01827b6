// The tags that links have at present, read as far as a question needs them.
import type { ChunkRows } from "../../../projections/definitions/click-tables/table.ts";
import { type LinkDocument, links } from "../../../projections/definitions/links.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import type { TagsOf } from "./group-values.ts";

const LINKS_AT_A_TIME = 500;

export const noTags: TagsOf = () => [];

export type LinkTags = ReturnType<typeof linkTags>;

/** For one question. Methods throw what the store throws. */
export function linkTags(readStore: Pick<ReadStore, "getMany">) {
  const tags = new Map<string, readonly string[]>();

  async function read(keys: readonly string[]): Promise<void> {
    const documents = await readStore.getMany<LinkDocument>(links.collection.name, keys, ["tags"]);
    for (const key of keys) tags.set(key, []);
    for (const link of documents) if (link.tags) tags.set(link._id, [...new Set(link.tags)]);
  }

  return {
    async ofLink(link: string): Promise<readonly string[]> {
      if (!tags.has(link)) await read([link]);
      return tags.get(link) ?? [];
    },
    /** Of the links that have rows. @throws the reason of the slices' signal */
    async ofLinksIn(tables: readonly Pick<ChunkRows, "chunk">[], slices: TimeSlices): Promise<TagsOf> {
      const links = new Set(tables.flatMap(({ chunk }) => chunk.columns.link.values));
      const unknown = [...links].filter((link) => !tags.has(link));
      for (let n = 0; n < unknown.length; n += LINKS_AT_A_TIME) {
        await read(unknown.slice(n, n + LINKS_AT_A_TIME));
        await slices.next();
      }
      return (link) => tags.get(link) ?? [];
    },
  };
}

/** Whether any link of the account has one. */
export async function hasTags(
  readStore: Pick<ReadStore, "countElements">,
  accountId: string,
): Promise<boolean> {
  const query = { where: { accountId }, field: "tags", limit: 1 };
  return (await readStore.countElements(links.collection.name, query)).length > 0;
}
