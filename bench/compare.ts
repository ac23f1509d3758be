/**
 * Measures several things in turn, round after round. Machines are noisy: what is compared stands side by side, and
 * ratios are taken within each round.
 */
import type { Bench } from './bench.ts';
import { describe, type Load, type Measurement, measure, median, middle } from './measure.ts';

export interface Round {
  /** From 1; 0 is the warm-up. */
  number: number;
  seconds: number;
}

export type Step = (round: Round) => Promise<Measurement>;

export interface Comparison<Name extends string> {
  /** The round with the middle rate. */
  of(name: Name): Measurement;
  /** Median of the ratios of the rates. */
  ratio(name: Name, floor: Name): number;
  /** Median of the ratios of the slowest hundredth's answer times. */
  p99Ratio(name: Name, floor: Name): number;
}

const WARM_UP_SECONDS = 2;

/** A warm-up, then the rounds; each runs every step once, in order. */
export async function compare<Name extends string>(
  { options, say }: Pick<Bench, 'options' | 'say'>,
  steps: Record<Name, Step>,
): Promise<Comparison<Name>> {
  const names = Object.keys(steps) as Name[];
  const width = Math.max(...names.map(({ length }) => length));
  const rounds: Record<Name, Measurement>[] = [];
  for (let number = 0; number <= options.rounds; number += 1) {
    const measured = {} as Record<Name, Measurement>;
    for (const name of names) {
      const seconds = number === 0 ? Math.min(WARM_UP_SECONDS, options.seconds) : options.seconds;
      measured[name] = await steps[name]({ number, seconds });
      say(
        `${number === 0 ? 'warm-up' : `round ${number}`}  ${name.padEnd(width)} ${describe(measured[name])}`,
      );
    }
    if (number > 0) rounds.push(measured);
  }
  return comparison(rounds);
}

export function comparison<Name extends string>(
  rounds: readonly Record<Name, Measurement>[],
): Comparison<Name> {
  return {
    of: (name) => median(rounds.map((round) => round[name])),
    ratio: (name, floor) => middle(rounds.map((round) => round[name].perSecond / round[floor].perSecond)),
    // A whole millisecond is the finest that is measured.
    p99Ratio: (name, floor) =>
      middle(rounds.map((round) => Math.max(1, round[name].p99Ms) / Math.max(1, round[floor].p99Ms))),
  };
}

/** Requests of a load for the seconds of the round. */
export function load(requests: Load): Step {
  return ({ seconds }) => measure(requests, { seconds });
}
