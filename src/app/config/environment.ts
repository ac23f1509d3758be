/** The environment, read once and validated with one message that lists every fault. Contract: OPS-11. */

import { readFileSync } from 'node:fs';

/** Reads variables and gathers what is wrong with them. */
export interface EnvironmentReader {
  text(name: string): string | undefined;
  /** The value, or what the file holds that the other variable names. */
  textOrFile(name: string, fileName: string): string | undefined;
  /** What the file at this path holds; undefined where it cannot be read, which is a fault of the variable. */
  file(name: string, path: string): string | undefined;
  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T;
  integer(name: string, limits: { min: number; max: number; fallback: number }): number;
  fault(name: string, message: string): void;
  readonly faults: readonly string[];
}

/** Thrown with every fault of the environment in its message. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `Some environment variables are not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\nSee docs/environment.md.`,
    );
    this.faults = faults;
  }
}

export function readEnvironment(env: Readonly<Record<string, string | undefined>>): EnvironmentReader {
  const faults: string[] = [];
  const text = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  };
  const file = (name: string, path: string): string | undefined => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      faults.push(`${name} cannot be read (${code}). Check the path and who may read it`);
      return undefined;
    }
  };
  return {
    faults,
    text,
    file,
    textOrFile(name, fileName) {
      const [value, path] = [text(name), text(fileName)];
      if (path === undefined) return value;
      if (value !== undefined) faults.push(`${name} and ${fileName} are both set. Remove one of them`);
      return file(fileName, path)?.trim() ?? value;
    },
    fault: (name, message) => void faults.push(`${name} ${message}`),
    choice(name, choices, fallback) {
      const value = text(name) ?? fallback;
      const found = choices.find((choice) => choice === value);
      if (found === undefined) faults.push(`${name} must be one of ${choices.join(', ')}`);
      return found ?? fallback;
    },
    integer(name, { min, max, fallback }) {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = Number(value);
      if (!/^-?\d+$/.test(value) || number < min || number > max) {
        faults.push(`${name} must be a whole number from ${min} to ${max}`);
        return fallback;
      }
      return number;
    },
  };
}
