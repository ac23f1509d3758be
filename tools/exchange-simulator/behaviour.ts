/** How a simulated exchange behaves; told at the start, and changed while it runs. */
export interface Behaviour {
  /** Part of the requests that are answered with `failStatus`, 0 to 1. */
  failRate: number;
  failStatus: number;
  /** `retry-after` of failures, in seconds; 0 leaves it out. */
  retryAfterSeconds: number;
  /** Before each answer. */
  delayMs: number;
  /** True: connections are dropped without an answer. */
  down: boolean;
  /** Part of the deliveries that are rejected in their callback, 0 to 1. */
  rejectRate: number;
  /** False: no callbacks. */
  callbacks: boolean;
}

export const WELL: Behaviour = {
  failRate: 0,
  failStatus: 503,
  retryAfterSeconds: 0,
  delayMs: 0,
  down: false,
  rejectRate: 0,
  callbacks: true,
};

/** What may be sent to change it. */
export const CHANGES =
  'Send a JSON object with some of these: failRate and rejectRate (a number from 0 to 1), failStatus (300 to 599), retryAfterSeconds (0 to 86400), delayMs (0 to 120000), down and callbacks (true or false).';

/** The behaviour with `changes` made; undefined when one of them cannot be. */
export function changedBehaviour(behaviour: Behaviour, changes: unknown): Behaviour | undefined {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) return undefined;
  const next = { ...behaviour };
  for (const [name, value] of Object.entries(changes)) {
    const rule = Object.hasOwn(RULES, name) ? RULES[name as keyof Behaviour] : undefined;
    if (rule === undefined || !rule(value)) return undefined;
    Object.assign(next, { [name]: value });
  }
  return next;
}

const isRate = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1;
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isWhole = (max: number) => (value: unknown) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max;
const RULES: Record<keyof Behaviour, (value: unknown) => boolean> = {
  failRate: isRate,
  failStatus: (value) => isWhole(599)(value) && Number(value) >= 300,
  retryAfterSeconds: isWhole(86_400),
  delayMs: isWhole(120_000),
  down: isBoolean,
  rejectRate: isRate,
  callbacks: isBoolean,
};
