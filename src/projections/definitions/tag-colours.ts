// The colours of each account's tags, for its pages and for the API.
import { STREAM_LIMITS, type TagColour } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. `colours`: pairs, as a tag may hold anything; bounded by STREAM_LIMITS.tagColours. */
export type TagColoursDocument = Document & { colours: [tag: string, colour: TagColour][] };

export const tagColours: Projection<TagColoursDocument> = {
  name: "tag-colours",
  collection: { name: "tag-colours", indexes: [] },
  handles: ["TagColoured"],
  key: (event) => (event.type === "TagColoured" ? event.data.accountId : undefined),
  empty: () => ({ colours: [] }),
  evolve(document, event) {
    if (event.type !== "TagColoured") return document;
    const { tag, colour } = event.data;
    const others = document.colours.filter(([name]) => name !== tag);
    if (colour === null) return { colours: others };
    return { colours: [...others, [tag, colour] as [string, TagColour]].slice(-STREAM_LIMITS.tagColours) };
  },
};
