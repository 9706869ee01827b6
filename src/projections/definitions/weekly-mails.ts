// Which accounts get weekly mails: what the job that sends them goes through.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: mailId. A closed account's stay as they are: its stream says that it is closed. */
export type WeeklyMailDocument = Document & {
  accountId: string;
  status: "running" | "stopped";
  begunAt: string;
};

export const weeklyMails: Projection<WeeklyMailDocument> = {
  collection: { name: "weekly-mails", indexes: [["status"]] },
  handles: ["WeeklyMailBegun", "WeeklyMailStopped"],
  key: (event) => ("mailId" in event.data ? event.data.mailId : undefined),
  empty: (event) => ({
    accountId: "accountId" in event.data ? event.data.accountId : "",
    status: "stopped",
    begunAt: event.data.at,
  }),
  evolve: (mail, event) => ({ ...mail, status: event.type === "WeeklyMailBegun" ? "running" : "stopped" }),
};
