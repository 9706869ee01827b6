// Hits of each link by day and hour: what hourlyClicks and the time series of a link are answered from.
import { hitsByDay } from "./hits-by-day.ts";

/** Subject: link key. */
export const linkDays = hitsByDay("link-days", ({ link }) => link);
