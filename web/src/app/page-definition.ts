/** What a page says about itself, as `staticData` of its route. */
import type { LucideIcon } from 'lucide-react';
import type { en } from '../messages/en.ts';

/** A section of the catalogue that has a title: a page. */
type PageName = {
  [Name in keyof typeof en]: (typeof en)[Name] extends { title: string } ? Name : never;
}[keyof typeof en];

export interface PageDefinition {
  /** Its section of the message catalogues, where `title` stands. */
  name: PageName;
  /** Any of these opens it. Empty: every signed-in person. */
  permissions: readonly string[];
  /** Where it stands in the navigation. A page without one is reached from another. */
  navigation?: {
    group: 'organisation' | 'records' | 'exchange' | 'account';
    position: number;
    icon: LucideIcon;
  };
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    page?: PageDefinition;
  }
}
