// What anybody may read: the status in words, and the documentation of the API in the portal's colours.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../../src/config/version.ts";
import { visitor } from "../../support/portal/browser-like.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

describe("public pages", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  it("say in words that everything works, and lead there from each page", async () => {
    const anybody = visitor(service.port);
    expect((await anybody.get("/")).text).toContain('<a href="/status">Status</a>');
    const { text } = await anybody.get("/status");
    expect(text).toContain("Everything works");
    expect(text).toContain("They answer.");
    expect(text).toContain(`Linkledger ${VERSION}`);
  });

  it("say what is disturbed while the event store does not answer, and not why", async () => {
    const { eventStore } = service.backend;
    const { head } = eventStore;
    eventStore.head = () => Promise.reject(new Error("disk of host db-7 is full"));
    const status = async () => (await visitor(service.port).get("/status")).text;
    await expect.poll(status).toContain("Not everything works just now");
    const text = await status();
    Object.assign(eventStore, { head });
    expect(text).toContain("They answer.");
    expect(text).toContain("They may be refused just now");
    expect(text).not.toMatch(/db-7|event store/);
    await expect.poll(status).toContain("Everything works");
  });

  it("show the API's documentation under our name, mark and colours", async () => {
    const anybody = visitor(service.port);
    const limits = (await anybody.get("/docs/limits")).text;
    expect(limits).toMatch(/<th scope="row">Requests an hour and key<\/th><td>50<\/td><td>500<\/td>/);
    expect((await anybody.get("/docs/error-codes")).text).toContain('<tr id="error-slug_taken">');
    const { text } = await anybody.get("/docs");
    expect(text).toContain("<title>Linkledger API · Linkledger documentation</title>");
    const [, css = ""] = /rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
    expect((await service.ask(css)).text).toContain("--accent: light-dark(#4f46e5, #a5a6ff);");
    expect(text).toContain('rel="icon" href="/favicon.ico"');
  });
});
