// Hits of all links of an account by day and hour: the chart of its dashboard.
import { hitsByDay } from "./hits-by-day.ts";

/** Subject: accountId. */
export const accountDays = hitsByDay("account-days", ({ accountId }) => accountId);
