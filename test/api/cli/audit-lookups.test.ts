// `audit find`, `event`, `state`, `clicks` and `seals` beside a running service.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

describe("an audit on the command line", { timeout: 120_000 }, () => {
  let service: TestService;
  let command: ReturnType<typeof commandLine>;
  let member: Member;
  let slug: string;

  beforeAll(async () => {
    service = await startTestService();
    command = commandLine(service.config.dataDir);
    member = await service.member("free");
    const url = "https://example.com/";
    ({ slug } = (await service.post<{ slug: string }>("/api/v1/shorten", member.key, { url })).body);
    await service.ask(`/${slug}`);
  });
  afterAll(() => service.stop());

  it("finds what a key did at once, though the index follows a second later", async () => {
    const { events } = await command.json("audit", "find", "--actor", `key:${member.keyId}`);
    expect(events).toMatchObject([{ stream: `link-localhost/${slug}`, revision: 0, type: "LinkCreated" }]);
    const [{ correlation_id }] = events;
    const found = await command.json("audit", "find", "--correlation", correlation_id, "--to", "2999-01-01");
    expect(found.events).toEqual(events);
    const page = await command.json("audit", "find", "--account", member.accountId, "--limit", "1");
    const rest = await command.json("audit", "find", "--account", member.accountId, "--cursor", page.next);
    expect(rest.events.map(({ type }: { type: string }) => type)).toEqual(["KeyIssued", "AccountOpened"]);
    const refusal = await command.linkledger(["audit", "find", "--from", "yesterday"]);
    expect([refusal.code, refusal.stderr]).toEqual([1, expect.stringContaining("It must be a date")]);
  });

  it("takes an event, a stream as of a revision, and a link by name, as the console does", async () => {
    const stream = `account-${member.accountId}`;
    expect(await command.json("audit", "event", stream, "1")).toMatchObject({ withheld: ["keyHash"] });
    const state = await command.json("audit", "state", stream, "--revision", "1", "--against", "-1");
    expect(state).toMatchObject({ revision: 1, against: -1 });
    await until("the click", async () => {
      const { events } = await command.json("audit", "clicks", "--link", `localhost/${slug}`);
      return events.length === 1;
    });
    expect(await command.refused("audit", "event", stream, "9")).toContain("There is no revision 9");
  });

  it("refuses a question that has no answer, rather than finding nothing", async () => {
    const refusal = async (...args: string[]) => {
      const { code, stdout, stderr } = await command.linkledger(["audit", ...args]);
      expect([args, code, stdout]).toEqual([args, 1, ""]);
      return stderr;
    };
    for (const search of ["events", "clicks"])
      for (const after of ["bad", "99999999999999999999"])
        expect(await refusal(search, "--after", after)).toContain("not a position of this log");
    for (const [list, category] of [
      ["streams", "link-"],
      ["events", "nonsense"],
      ["find", "clicks"],
    ] as const)
      expect(await refusal(list, "--category", category)).toContain("withdrawals");
    expect(await refusal("find", "--type", "LinkClicked")).toContain("LinkCreated");
    expect(await refusal("find", "--actor", "bad")).toContain("must be operator, person, key or system");
  });

  it("shows withdrawals of a link's clicks with the link, and seals among the streams", async () => {
    await command.json("clicks", "withdraw", slug, "--from", "2020-01-01", "--reason", "bots");
    await command.json("audit", "seal");
    const { events } = await command.json("audit", "link", slug);
    expect(events.map(({ type }: { type: string }) => type)).toEqual(["LinkCreated", "ClicksWithdrawn"]);
    const { streams } = await command.json("audit", "streams");
    expect(streams).toContainEqual(expect.objectContaining({ stream: "seals" }));
  });
});
