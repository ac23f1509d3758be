/** The options of `npm run soak`, and its help. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface Options {
  help: boolean;
  /** How long the flows run; setting up and looking at the end come on top. */
  minutes: number;
  /** Of everything that chance decides. */
  seed: number;
  patients: number;
  /** Leaves the database and the logs of the processes. */
  keep: boolean;
}

/** Says in one sentence what is wrong with an option. */
export class OptionError extends Error {
  override name = 'OptionError';
}

/** Throws OptionError. */
export function readOptions(args: readonly string[]): Options {
  const values = parse(args);
  return {
    help: values.help,
    minutes: numberOf('--minutes', values.minutes, { min: 0.5, max: 10_080, pattern: /^\d{1,5}(\.\d+)?$/ }),
    seed: numberOf('--seed', values.seed ?? String(randomInt(2 ** 32)), { min: 0, max: 2 ** 32 - 1 }),
    patients: numberOf('--patients', values.patients, { min: 1, max: 10_000 }),
    keep: values.keep,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        minutes: { type: 'string', default: '30' },
        seed: { type: 'string' },
        patients: { type: 'string', default: '40' },
        keep: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new OptionError((error as Error).message, { cause: error });
  }
}

interface Range {
  min: number;
  max: number;
  pattern?: RegExp;
}

function numberOf(option: string, text: string, { min, max, pattern = /^\d{1,10}$/ }: Range): number {
  const value = Number(text);
  if (!pattern.test(text) || value < min || value > max)
    throw new OptionError(`${option} takes a number from ${min} to ${max}, not ${text}.`);
  return value;
}

export const HELP = `npm run soak [-- options]

Runs the service with all its flows at once, and kills its processes and its PostgreSQL at random. In the end it compares
what was sent, answered, delivered and logged, and prints a table. Exit code 1: something was lost, came out of order, or
memory grew. 2: an option is wrong. Ctrl-C ends the flows early, and what there is is compared.

  --minutes N    how long the flows run (30); setting up and settling add about a minute
  --seed N       of everything that chance decides; printed at the start (a new one)
  --patients N   patients whose records are written and read (40)
  --keep         leave the database and the logs of the processes, also when all is well
  --help         this text

For the first 60% of the time things are killed. Then memory is watched. It needs Linux. What it checks: docs/soak.md
`;
