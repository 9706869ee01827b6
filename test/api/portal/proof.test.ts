// The proof of a link that its owner takes home, from its page or by the API, and the page that checks it.
import { beforeAll, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, peopledService } from "../../support/portal/portal-people.ts";
import { commandLine } from "../../support/service/command-line.ts";

const { service, people } = peopledService();
let one: Person;
let other: Person;
let path: string;
beforeAll(async () => {
  one = await people.person();
  other = await people.person();
  path = await people.shorten(one, "https://example.com/proved");
  await people.shorten(other, "https://example.com/somebody-else");
  await commandLine(service.config.dataDir).json("audit", "seal");
});

const proofOf = async (person: Person) => person.get(`${path}/proof.ndjson`);
const check = async (proof: string) => {
  const { status, text } = await one.post("/portal/proof", { proof });
  return { status, text: decoded(text) };
};

it("is a file of the owner's, from the page that explains the link, and checked by a page", async () => {
  expect((await one.get(`${path}/explain`)).text).toContain(`href="${path}/proof.ndjson"`);
  const { status, headers, text } = await proofOf(one);
  expect([status, headers["content-disposition"]]).toEqual([200, expect.stringContaining("proof-")]);
  expect(text).not.toContain("somebody-else");
  expect(await check(text)).toMatchObject({
    status: 200,
    text: expect.stringMatching(/<h2>Proved: <span class="break">localhost\/\w+</),
  });
  expect(await check(text.replaceAll("\n", "\r\n"))).toMatchObject({
    text: expect.stringMatching(/<h2>Proved: <span class="break">localhost\/\w+</),
  });
  const forged = await check(text.replace("example.com/proved", "example.com/forged"));
  expect(forged.text).toMatch(/<h2>Not proved: <span class="break">localhost\/\w+</);
  const others = ['{"export":"linkledger log 3"}', '{"unsealed":true}', '{"end":true}'].join("\n");
  for (const nothing of ["", "nonsense", text.split("\n")[0] ?? "", others])
    expect(await check(nothing)).toMatchObject({
      status: 400,
      text: expect.stringContaining('name="proof"'),
    });
});

it("is nobody else's, and the same by the API", async () => {
  expect((await proofOf(other)).status).toBe(404);
  const slug = path.split("/").at(-1);
  const { key } = await service.issueKey(one.accountId);
  const mine = await service.ask(`/api/v1/links/${slug}/proof`, { key });
  expect([mine.status, mine.text]).toEqual([200, (await proofOf(one)).text]);
  const { key: foreign } = await service.issueKey(other.accountId);
  expect((await service.ask(`/api/v1/links/${slug}/proof`, { key: foreign })).status).toBe(403);
});
