// Times in which clicks were not recorded, as nothing could store them: analytics of these times say so.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `from`, `until`: of the first and the last hit, ISO 8601. `hits`: how many, of all links of the service. */
export type ClickGap = { from: string; until: string; hits: number };

/** The newest last. */
export type ClickGapsDocument = Document & { gaps: ClickGap[] };

/** There is one document. */
export const ALL_GAPS = "all";
/** One an outage and process: the newest of them are kept. */
const MOST_GAPS = 1_000;

const HANDLED = ["ClicksNotRecorded"] as const;

export const clickGaps: Projection<ClickGapsDocument, (typeof HANDLED)[number]> = {
  collection: { name: "click-gaps", indexes: [] },
  handles: HANDLED,
  key: () => ALL_GAPS,
  empty: () => ({ gaps: [] }),
  evolve: ({ gaps }, { data: { from, until, hits } }) => ({
    gaps: [...gaps, { from, until, hits }].slice(-MOST_GAPS),
  }),
};
