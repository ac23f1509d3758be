/**
 * The name of what an import reads, as it is kept with the import and shown in lists: one line of bounded length. Pure.
 * Contract: ADM-73.
 */
import { basename, resolve } from 'node:path';

export const FILE_NAME_CHARACTERS = 200;

/** Control characters, and what else begins a new line. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const EACH_NOT_IN_A_LINE = new RegExp(NOT_IN_A_LINE, 'gu');

export function isFileName(name: string): boolean {
  return name !== '' && [...name].length <= FILE_NAME_CHARACTERS && !NOT_IN_A_LINE.test(name);
}

/**
 * Of paths that a command was given: the last part of the path, where there is one. Several have no name, nor has standard
 * input.
 */
export function fileNameOf(paths: readonly string[]): string | null {
  const [path] = paths;
  if (path === undefined || paths.length > 1 || path === '-') return null;
  const name = basename(resolve(path)).replaceAll(EACH_NOT_IN_A_LINE, ' ');
  return name === '' ? null : [...name].slice(0, FILE_NAME_CHARACTERS).join('');
}
