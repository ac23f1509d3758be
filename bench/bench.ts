/** What every part of the benchmark gets, and what it gives. */
import type { Options } from './options.ts';

export interface Bench {
  options: Options;
  /** URL of the PostgreSQL server; its database is not touched, others are made beside it. */
  serverUrl: string;
  say(line: string): void;
}

export interface Part {
  name: string;
  /** One line for the help. */
  summary: string;
  measure(bench: Bench): Promise<Row[]>;
}

/** A row of the table at the end. */
export interface Row {
  what: string;
  /** Rates, times, sizes. */
  measured: string;
  /** What counts, in the words of the aim. */
  reached: string;
  /** Empty where there is none. */
  aim: string;
}
