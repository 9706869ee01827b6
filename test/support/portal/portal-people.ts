// Signed-up people for portal tests, each from its own address, with or without the Developer plan.
import { afterAll, beforeAll, expect } from "vitest";
import { until } from "../runtime/until.ts";
import { startTestService, type TestService } from "../service/start-service.ts";
import { signedUp, type Visitor } from "./browser-like.ts";

export type Person = Visitor & { accountId: string; email: string };

/** A service for the tests of a file, or of a block, and its people. Call it there: it registers its hooks. */
export function peopledService(environment: Record<string, string> = {}) {
  const service = {} as TestService;
  beforeAll(async () => {
    const started = await startTestService({ TRUST_PROXY: "127.0.0.1/32", ...environment });
    Object.defineProperties(service, Object.getOwnPropertyDescriptors(started));
  });
  afterAll(() => service.stop());
  return { service, people: portalPeople(service) };
}

/** The service must trust loopback (TRUST_PROXY), because each person sends its own address. */
export function portalPeople(service: TestService) {
  let people = 0;

  async function person(): Promise<Person> {
    people += 1;
    const email = `person-${people}@example.com`;
    const one = await signedUp(service.port, email, { address: `198.51.100.${people}` });
    const session = one.cookies.get("linkledger-session") ?? "";
    return { ...one, accountId: session.split(".")[0] ?? "", email };
  }

  return {
    person,
    async developer(): Promise<Person> {
      const one = await person();
      await service.changeTier(one.accountId, "developer");
      await until("the Developer plan to be shown", async () =>
        (await one.get("/portal")).text.includes(">Developer<"),
      );
      return one;
    },
    /** Returns the path of the link's page. */
    async shorten(one: Visitor, url: string, more: Record<string, string> = {}): Promise<string> {
      const made = await one.post("/portal/links", { url, ...more });
      expect(made.status).toBe(303);
      return String(made.headers.location);
    },
    /** Requests the short link (default domain) of a link's page. */
    follow: (path: string, headers: Record<string, string> = {}, query = "") =>
      service.ask(`/${path.split("/").at(-1)}${query}`, { headers }),
  };
}
