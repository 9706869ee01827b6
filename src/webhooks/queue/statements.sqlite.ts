// The delivery queue's schema and all its statements in one place, so that indexes and queries can be compared.
import { limitOf } from "../../stores/connections/sqlite.ts";
import { DELIVERY_STATES } from "./queue.ts";

/**
 * A claim sets `due_at` to its end: due deliveries are one index range, and a crashed worker's claim expires. `log`: JSON of
 * all attempts.
 */
export const QUEUE_SCHEMA = `
  CREATE TABLE IF NOT EXISTS deliveries (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    due_at TEXT,
    finished_at TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    claim TEXT,
    log TEXT NOT NULL DEFAULT '[]'
  ) STRICT;
  CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (webhook_id, due_at) WHERE state = 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_finished ON deliveries (finished_at) WHERE state <> 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_listed ON deliveries (webhook_id, created_at, id);
  CREATE INDEX IF NOT EXISTS deliveries_by_state ON deliveries (webhook_id, state, created_at, id);
  CREATE INDEX IF NOT EXISTS deliveries_by_event ON deliveries (webhook_id, event, state, created_at, id);
  CREATE TABLE IF NOT EXISTS failure_streaks (
    webhook_id TEXT PRIMARY KEY, since TEXT NOT NULL, last_at TEXT NOT NULL, attempts INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS streaks_by_length ON failure_streaks (attempts);
  CREATE TABLE IF NOT EXISTS routed (id INTEGER PRIMARY KEY CHECK (id = 1), place TEXT NOT NULL) STRICT;
`;

/** By the port's names. */
const OF_EVENT = "id, webhook_id AS webhookId, event_id AS eventId, event";
const COLUMNS = `${OF_EVENT}, state, created_at AS createdAt, due_at AS dueAt, finished_at AS finishedAt, tries`;
const LAST = "json_remove(json_extract(log, '$[#-1]'), '$.answer') AS last";
const AGAIN = "state = 'pending', due_at = :now, finished_at = NULL, tries = 0, claim = NULL";

/** `where`: besides the webhook. One index range each, so that pages of several states are merged from sorted ones. */
const listed = (where: string) => `SELECT ${COLUMNS}, ${LAST}, body FROM deliveries
    WHERE webhook_id = :webhookId${where} AND (created_at, id) < (:afterAt, :afterId)`;
const NEWEST = `ORDER BY createdAt DESC, id DESC ${limitOf(":limit")}`;

/** Loose index scan: steps from one webhook to the next instead of reading all pending deliveries of each. */
const WAITING = `WITH RECURSIVE waiting (webhook_id) AS (
      SELECT min(webhook_id) FROM deliveries WHERE state = 'pending'
      UNION ALL
      SELECT (SELECT min(webhook_id) FROM deliveries WHERE state = 'pending' AND webhook_id > waiting.webhook_id)
      FROM waiting WHERE waiting.webhook_id IS NOT NULL
    )`;

export const STATEMENTS = {
  routed: "SELECT place FROM routed",
  noteRouted: `INSERT INTO routed (id, place) VALUES (1, :place)
    ON CONFLICT (id) DO UPDATE SET place = excluded.place`,

  insert: `INSERT INTO deliveries (id, webhook_id, event_id, event, body, state, created_at, due_at)
    VALUES (:id, :webhookId, :eventId, :event, :body, 'pending', :now, :now) ON CONFLICT (id) DO NOTHING`,

  dueWebhooks: `${WAITING}
    SELECT webhook_id FROM waiting
    WHERE webhook_id IS NOT NULL AND webhook_id NOT IN (SELECT value FROM json_each(:except)) AND EXISTS (
      SELECT 1 FROM deliveries AS d
      WHERE d.state = 'pending' AND d.webhook_id = waiting.webhook_id AND d.due_at <= :now
    )`,

  due: `SELECT ${OF_EVENT}, tries, body, due_at AS wasDueAt FROM deliveries
    WHERE state = 'pending' AND webhook_id = :webhookId AND due_at <= :now ORDER BY due_at ${limitOf(":limit")}`,
  take: "UPDATE deliveries SET claim = :token, due_at = :until WHERE id = :id",
  settle: `UPDATE deliveries
    SET state = :state, due_at = :dueAt, finished_at = :finishedAt, tries = tries + 1, claim = NULL,
      log = json_insert(log, '$[#]', json(:attempt))
    WHERE id = :id AND claim = :token AND state = 'pending'`,
  defer: `UPDATE deliveries SET due_at = :dueAt, claim = NULL
    WHERE id = :id AND claim = :token AND state = 'pending'`,

  resend: `UPDATE deliveries SET ${AGAIN}
    WHERE id = :id AND NOT (state = 'pending' AND claim IS NOT NULL AND due_at > :now)`,
  recover: `UPDATE deliveries SET ${AGAIN}
    WHERE webhook_id = :webhookId AND state = 'failed' AND finished_at >= :since`,
  cancel: `UPDATE deliveries SET state = 'cancelled', due_at = NULL, finished_at = :now, claim = NULL
    WHERE webhook_id = :webhookId AND state = 'pending'`,

  list: `${listed("")} ${NEWEST}`,
  listOfState: `${listed(" AND state = :state")} ${NEWEST}`,
  listOfEvent: `${DELIVERY_STATES.map((state) => listed(` AND event = :event AND state = '${state}'`)).join(" UNION ALL ")} ${NEWEST}`,
  listOfEventAndState: `${listed(" AND event = :event AND state = :state")} ${NEWEST}`,
  one: `SELECT ${COLUMNS}, ${LAST}, body, log FROM deliveries WHERE id = :id`,
  sweepFinished: `DELETE FROM deliveries WHERE id IN (
    SELECT id FROM deliveries WHERE state <> 'pending' AND finished_at < :before ${limitOf(":limit")})`,
  sweepWaiting: `${WAITING}
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM waiting CROSS JOIN deliveries AS d
      WHERE d.state = 'pending' AND d.webhook_id = waiting.webhook_id AND d.due_at < :before ${limitOf(":limit")})`,

  noteFailure: `INSERT INTO failure_streaks (webhook_id, since, last_at, attempts) VALUES (:webhookId, :at, :at, 1)
    ON CONFLICT (webhook_id) DO UPDATE SET
      attempts = CASE WHEN since < :notBefore THEN 1 ELSE attempts + 1 END,
      since = CASE WHEN since < :notBefore THEN excluded.since ELSE since END,
      last_at = excluded.last_at
    RETURNING since, last_at AS lastAt, attempts`,
  streaks: `SELECT webhook_id AS webhookId, since, last_at AS lastAt, attempts FROM failure_streaks
    WHERE attempts >= :attempts AND (:among IS NULL OR webhook_id IN (SELECT value FROM json_each(:among)))`,
  endStreak: "DELETE FROM failure_streaks WHERE webhook_id = :webhookId",
  stats: `SELECT count(*) AS pending,
      count(*) FILTER (WHERE due_at <= :now AND counted) AS due,
      min(due_at) FILTER (WHERE due_at <= :now AND counted) AS oldest
    FROM (SELECT due_at, webhook_id NOT IN (SELECT value FROM json_each(:except)) AS counted
      FROM deliveries WHERE state = 'pending')`,
} as const;
