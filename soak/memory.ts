/** Whether the resident memory of a process grows. */
import { readFile } from 'node:fs/promises';
import type { Finding } from './ledger.ts';

export interface Sample {
  /** Since the first sample. */
  seconds: number;
  mb: number;
}

export interface Growth {
  /** Mean of the samples. */
  meanMb: number;
  /** What grew steadily: three times the smallest growth of the first, second and last third of the time. */
  growthMb: number;
  /** Twice what a straight line leaves unexplained in a third, and at least what a heap breathes. */
  noiseMb: number;
}

/** A heap takes and gives back memory in steps: this part of it is no growth, however short the time. */
const BREATHING = 0.05;
const PARTS = 3;

/** What is taken once, such as the memory of the first password hash, is a step in one third, and no leak. */
export function growthOf(samples: readonly Sample[]): Growth {
  const meanMb = samples.reduce((sum, { mb }) => sum + mb, 0) / Math.max(1, samples.length);
  const size = Math.ceil(samples.length / PARTS);
  const parts = Array.from({ length: PARTS }, (_, part) =>
    lineOf(samples.slice(part * size, (part + 1) * size)),
  );
  return {
    meanMb,
    growthMb: PARTS * Math.min(...parts.map(({ growthMb }) => growthMb)),
    noiseMb: Math.max(2 * median(parts.map(({ restMb }) => restMb)), BREATHING * meanMb),
  };
}

/** The line after Theil and Sen: its slope is the median of the slopes between pairs, which a single sample does not move. */
function lineOf(samples: readonly Sample[]): { growthMb: number; restMb: number } {
  const few = thinned(samples, 200);
  const slopes = few.flatMap((one, index) =>
    few.slice(index + 1).map((other) => (other.mb - one.mb) / (other.seconds - one.seconds)),
  );
  const slope = median(slopes);
  const duration = (samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0);
  const rests = few.map(({ seconds, mb }) => mb - slope * seconds);
  const level = median(rests);
  return { growthMb: slope * duration, restMb: median(rests.map((rest) => Math.abs(rest - level))) };
}

function thinned(samples: readonly Sample[], most: number): Sample[] {
  const step = Math.max(1, Math.ceil(samples.length / most));
  return samples.filter((_, index) => index % step === 0);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function judgeMemory(name: string, samples: readonly Sample[]): Finding & { growth: Growth } {
  const growth = growthOf(samples);
  const grows = growth.growthMb > growth.noiseMb;
  const [{ meanMb, growthMb, noiseMb }, shown] = [growth, (mb: number) => mb.toFixed(0)];
  return {
    what: `memory of ${name}: ${shown(meanMb)} MB, grew ${shown(growthMb)} MB, noise ${shown(noiseMb)} MB`,
    expected: samples.length,
    found: samples.length,
    lost: 0,
    wrong: grows || samples.length === 0 ? 1 : 0,
    growth,
  };
}

/** Resident memory of a process, in MB. Undefined when there is none of that id. */
export async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
}
