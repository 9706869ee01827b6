// What the clients of the event store are given of EVENTSTORE_URL.
import { describe, expect, it } from "vitest";
import { withDefaults } from "../../../src/event-store/eventstoredb/connection-string.ts";

describe("the connection string that a client is given", () => {
  it.each([
    ["esdb://a:2113", "esdb://a:2113?nodePreference=leader"],
    ["kurrentdb://u:p@a:1,b:2?tls=false", "kurrentdb://u:p@a:1,b:2?tls=false&nodePreference=leader"],
    ["esdb://u:p?x&y=1@a:1?tls=true", "esdb://u:p?x&y=1@a:1?tls=true&nodePreference=leader"],
    [
      "esdb+discover://a?TLS_CA-file=/x.crt&Keep-Alive-Interval=-1",
      "esdb+discover://a?TLS_CA-file=/x.crt&Keep-Alive-Interval=-1&nodePreference=leader",
    ],
  ])("%s reads from the leader", (given, expected) => {
    expect(withDefaults(given)).toBe(expected);
  });

  it("has no option that the clients would print, with the password, as unknown", () => {
    const given = "kurrentdb://u:secret@a:1?pool=5&tls=false&retries=3";
    expect(withDefaults(given)).toBe("kurrentdb://u:secret@a:1?tls=false&nodePreference=leader");
  });

  it("reads from the leader also when it says otherwise", () => {
    expect(withDefaults("esdb://a:1?nodePreference=random")).toMatch(/&nodePreference=leader$/);
  });

  it("keeps what is no option at all, for the client to refuse", () => {
    expect(withDefaults("esdb://a:1?tls")).toBe("esdb://a:1?tls&nodePreference=leader");
  });
});
