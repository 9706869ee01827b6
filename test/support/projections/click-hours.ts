// The hours of recording of some clicks, as the fold writes them.
import type { ClickHourDocument } from "../../../src/projections/definitions/click-hours.ts";
import { ClickHoursFold } from "../../../src/projections/fold/clicks/click-hours-fold.ts";
import type { RecordedEvent } from "../../../src/stores/event-store/port.ts";

export async function clickHoursOf(
  clicks: readonly Pick<RecordedEvent, "recordedAt" | "position">[],
): Promise<ClickHourDocument[]> {
  const fold = new ClickHoursFold({ getMany: async () => [] });
  for (const { recordedAt, position } of clicks) fold.take(recordedAt, position);
  return await fold.fold();
}
