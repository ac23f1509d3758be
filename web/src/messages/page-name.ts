import type { en } from './en.ts';

/** A section of the catalogue that has a title: a page. */
export type PageName = {
  [Name in keyof typeof en]: (typeof en)[Name] extends { title: string } ? Name : never;
}[keyof typeof en];
