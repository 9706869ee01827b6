// What a client of the event feed asks for by Accept: a page or a stream, in which form.
import type { FeedForm } from "../../queries/feed/feed-event.ts";

export const EVENT_STREAM = "text/event-stream";
export const CLOUD_EVENTS_BATCH = "application/cloudevents-batch+json";
const CLOUD_EVENTS = [CLOUD_EVENTS_BATCH, "application/cloudevents+json"];

/** A page of our own JSON for any other header. `text/event-stream, application/cloudevents+json`: a stream of those. */
export function acceptedForm(header: string | undefined): { stream: boolean; form: FeedForm } {
  const accepted = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";").map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([type = ""]) => type);
  return {
    stream: accepted.includes(EVENT_STREAM),
    form: accepted.some((type) => CLOUD_EVENTS.includes(type)) ? "cloudevents" : "plain",
  };
}
