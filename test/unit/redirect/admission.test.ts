// What lets visits of guarded links in: the order of limit and password, and that no failure opens anything.
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { Refused } from "../../../src/commands/refusals.ts";
import { admission, type GuardedVisit } from "../../../src/redirect/visits/admission.ts";
import { clickLimit, visitCounter } from "../../../src/redirect/visits/click-limit.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";

const LINK = { key: "localhost/abc", maxClicks: 1 };
const PROTECTED = { ...LINK, passwordId: "p" };
const person: GuardedVisit = {
  request: { method: "GET", headers: {} } as IncomingMessage,
  response: {} as ServerResponse,
  ...{
    form: undefined,
    requestId: "r",
    address: "203.0.113.1",
    now: 0,
    isSecure: false,
    look: async () => undefined,
    isPerson: true,
  },
};
const preview = { ...person, isPerson: false };
const recorded = async () => undefined;

/** `knows`: whether visitors give the password, or what looking at it throws. */
function start(knows: boolean | Error = true, people = 0) {
  const asked: string[] = [];
  const limit = clickLimit({
    countVisits: visitCounter(ownCounts(), () => new Date(0)),
    people: async () => people,
  });
  const gate = async ({ link }: { link: string }) => {
    asked.push(link);
    if (knows instanceof Error) throw knows;
    return knows;
  };
  return { admit: admission({ limit, gate }), asked };
}

describe("a visit of a guarded link", () => {
  it("is asked for no password where the limit is reached", async () => {
    const { admit, asked } = start(true, 1);
    expect(await admit(PROTECTED, person, recorded)).toBe("exhausted");
    expect(asked).toEqual([]);
  });

  it("counts only with the password", async () => {
    const { admit } = start(false);
    expect(await admit(PROTECTED, person, recorded)).toBe("answered");
    expect(await admit(LINK, person, recorded)).toBe("let in");
    expect(await admit(LINK, person, recorded)).toBe("exhausted");
  });

  it("counts for people only, and previews get the answer of people", async () => {
    const { admit } = start();
    for (let n = 0; n < 3; n++) expect(await admit(LINK, preview, recorded)).toBe("let in");
    expect(await admit(LINK, person, recorded)).toBe("let in");
    expect(await admit(LINK, preview, recorded)).toBe("exhausted");
  });

  it("counts for nothing when its click could not be recorded", async () => {
    const { admit } = start();
    const busy = () => Promise.reject(new Refused("recorder_busy"));
    await expect(admit(LINK, person, busy)).rejects.toThrow(Refused);
    expect(await admit(LINK, person, recorded)).toBe("let in");
  });

  it("is not let in while passwords can't be looked at", async () => {
    const { admit } = start(new StoreUnavailable("away"));
    let isRecorded = false;
    const record = async () => {
      isRecorded = true;
    };
    await expect(admit(PROTECTED, person, record)).rejects.toThrow(StoreUnavailable);
    expect(isRecorded).toBe(false);
  });
});
