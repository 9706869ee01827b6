// Circuit breaker for a failing receiver: while it is open, deliveries wait without using up attempts. Pure.
/** Times in milliseconds. `openedForMs` is 0 while closed; the circuit is half-open once `openUntil` has passed. */
export type Circuit = { failures: number; openUntil: number; openedForMs: number };

export const closedCircuit: Circuit = { failures: 0, openUntil: 0, openedForMs: 0 };

/** `failures` in a row open the circuit for `openFromMs`, doubled each time up to `openToMs`. */
export type CircuitSettings = { failures: number; openFromMs: number; openToMs: number };

export const CIRCUIT_SETTINGS: CircuitSettings = { failures: 10, openFromMs: 5_000, openToMs: 300_000 };

export function isOpen(circuit: Circuit, now: number): boolean {
  return circuit.openUntil > now;
}

/** Most deliveries in flight: none while open, one probe while half-open, `closed` otherwise. */
export function widthOf(circuit: Circuit, now: number, closed: number): number {
  if (circuit.openedForMs === 0) return closed;
  return isOpen(circuit, now) ? 0 : 1;
}

/** Failures while open belong to deliveries sent before it opened, so they do not extend it. `random`: [0, 1). */
export function afterFailure(
  circuit: Circuit,
  now: number,
  random: number,
  settings = CIRCUIT_SETTINGS,
): Circuit {
  const failures = circuit.failures + 1;
  if (isOpen(circuit, now) || failures < settings.failures) return { ...circuit, failures };
  const openedForMs = Math.min(settings.openToMs, circuit.openedForMs * 2 || settings.openFromMs);
  return { failures, openedForMs, openUntil: now + openedForMs * (0.8 + 0.4 * random) };
}
