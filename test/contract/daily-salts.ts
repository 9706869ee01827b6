// The contract of the daily salts port; `others` is another process's handle on the same store.
import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type DailySalts, utcDayOf } from "../../src/redirect/clicks/visitors/daily-salts.ts";

export type DailySaltsFixture = {
  salts: DailySalts;
  others: DailySalts;
  /** Everything that is stored, for all days, as text. */
  stored(): Promise<string>;
};

const DAY_MS = 86_400_000;

/** With the real clock, because servers expire keys by their own clock. */
export function dailySaltsContract(name: string, open: () => Promise<DailySaltsFixture>): void {
  describe(`daily salts: ${name}`, () => {
    let fixture: DailySaltsFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    const salt = () => randomBytes(32).toString("base64");
    let ahead = 1;
    /** A day that no other test of this suite has used. */
    const someDay = () => utcDayOf(Date.now() + DAY_MS * ahead++);

    it("gives the same salt to all who race for a day's salt", async () => {
      const day = someDay();
      const offered = Array.from({ length: 20 }, salt);
      const agreed = await Promise.all(
        offered.map((own, n) => (n % 2 ? fixture.others : fixture.salts).agree(day, own)),
      );
      expect(new Set(agreed).size).toBe(1);
      expect(offered).toContain(agreed[0]);
      expect(await fixture.others.agree(day, salt())).toBe(agreed[0]);
    });

    it("has another salt for another day", async () => {
      const [first, second] = [salt(), salt()];
      expect(await fixture.salts.agree(someDay(), first)).toBe(first);
      expect(await fixture.salts.agree(someDay(), second)).toBe(second);
    });

    it("keeps the salt until its day ends, and no byte of it afterwards", async () => {
      const today = { name: utcDayOf(Date.now()).name, endsAt: Date.now() + 3_000 };
      const agreed = await fixture.salts.agree(today, salt());
      await fixture.salts.sweep(new Date());
      expect(await fixture.stored()).toContain(agreed);
      // Redis expires the salt by itself, files are destroyed by the sweep.
      const afterwards = async () => {
        await fixture.salts.sweep(new Date(Date.now() + DAY_MS));
        return await fixture.stored();
      };
      await expect.poll(afterwards).not.toContain(agreed);
    });
  });
}
