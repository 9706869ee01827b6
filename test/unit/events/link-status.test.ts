// What a visitor meets at a link, by its document, the time, the people it has led and its domain.
import { expect, it } from "vitest";
import { coarseStatus, linkStatus, statusFacts } from "../../../src/events/links/link-status.ts";

const NOW = Date.parse("2026-03-01T00:00:00.000Z");
const PAST = "2026-03-01T00:00:00.000Z";
const FUTURE = "2026-03-01T00:00:00.001Z";
const BLOCK = { reason: "spam" };
const ON = { disabled: false, deleted: false, block: null };

it.each([
  [{}, "live", "live"],
  [{ activeFrom: FUTURE }, "scheduled", "conditional"],
  [{ activeFrom: PAST }, "live", "conditional"],
  [{ expiresAt: PAST }, "expired", "conditional"],
  [{ expiresAt: FUTURE }, "live", "conditional"],
  [{ maxClicks: 3 }, "used_up", "conditional"],
  [{ maxClicks: 4 }, "live", "conditional"],
  [{ maxClicks: 3, expiresAt: PAST }, "expired", "conditional"],
  [{ maxClicks: 3, activeFrom: FUTURE }, "scheduled", "conditional"],
  [{ disabled: true, expiresAt: PAST }, "disabled", "disabled"],
  [{ disabled: true, block: BLOCK, activeFrom: FUTURE }, "blocked", "blocked"],
  [{ deleted: true, disabled: true, block: BLOCK }, "deleted", "deleted"],
] as const)("with %j a link is %s", (fields, status, coarse) => {
  const facts = statusFacts({ ...ON, ...fields });
  expect(linkStatus(facts, { now: NOW, people: 3, isServed: true })).toBe(status);
  expect(coarseStatus(facts)).toBe(coarse);
  const unserved = linkStatus(facts, { now: NOW, people: 3, isServed: false });
  expect(unserved).toBe(status === "deleted" ? "deleted" : "domain_inactive");
});
