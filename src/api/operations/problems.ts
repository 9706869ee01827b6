// What is wrong with a service, as readiness, the page of its status and the console say it.

/** What visitors and owners would notice. */
export type Area = "links" | "changes" | "numbers" | "webhooks";

/**
 * `unready`: requests are answered better by another process; `degraded`: this one answers, with something missing or late;
 * `notice`: nothing is wrong with the service, and its operator looks at it all the same. `at`: the page of the console where it
 * is dealt with, if there is one.
 */
export type Problem = {
  part: string;
  reason: string;
  level: "unready" | "degraded" | "notice";
  affects: readonly Area[];
  at?: string | undefined;
};
