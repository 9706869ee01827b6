// What an account has chosen for visitors is not taken for nothing while its documents are away.
import { expect, it } from "vitest";
import { brandOf } from "../../../src/portal/account/account-page.ts";
import { ProjectionNotBuilt } from "../../../src/projections/builds/errors.ts";

const reading = (get: () => Promise<undefined>) => brandOf({ readStore: { get } }, "account");

it("tells nothing chosen from nothing known, so that no empty form is shown", async () => {
  expect(await reading(async () => undefined)).toBeNull();
  expect(await reading(() => Promise.reject(new ProjectionNotBuilt("folded anew", 1)))).toBeUndefined();
  await expect(reading(() => Promise.reject(new Error("a bug")))).rejects.toThrow("a bug");
});
