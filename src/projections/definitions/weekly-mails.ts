// Which accounts get weekly mails: what the job that sends them goes through.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: mailId. A closed account's stay as they are: its stream says that it is closed. */
export type WeeklyMailDocument = Document & {
  accountId: string;
  status: "running" | "stopped";
};

const HANDLED = ["WeeklyMailBegun", "WeeklyMailStopped"] as const;

export const weeklyMails: Projection<WeeklyMailDocument, (typeof HANDLED)[number]> = {
  collection: { name: "weekly-mails", indexes: [["status"]] },
  handles: HANDLED,
  key: ({ data }) => data.mailId,
  empty: ({ data }) => ({ accountId: data.accountId, status: "stopped" }),
  evolve: (mail, event) => ({ ...mail, status: event.type === "WeeklyMailBegun" ? "running" : "stopped" }),
};
