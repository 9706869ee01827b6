// Events of `gaps-<writer>`: what a process could not record of the clicks that it led on.
import { z } from "zod";
import { eventType } from "./definition.ts";

export const gapEvents = {
  ClicksNotRecorded: eventType(
    "Visitors were led on while clicks could not be stored, and for these hits there was no room in memory.",
    {
      at: z.iso.datetime().describe("When it was said, as soon as the log took appends again"),
      from: z.iso.datetime().describe("The first of these hits"),
      until: z.iso.datetime().describe("The last of these hits"),
      hits: z.int().min(1).describe("How many there were, of all links of the service"),
    },
  ),
};
