// The service's side of a command over its socket, when the service stops.
import { expect, it } from "vitest";
import { converse } from "../../../src/cli/service/conversation.ts";

it("ends at a stop of the service where no command has come, so that a silent client holds up none", async () => {
  const { answers, interrupt } = converse(() => Promise.reject(new Error("No command opens anything")));
  const sent = Array.fromAsync(answers);
  interrupt();
  expect(await sent).toEqual([]);
});
