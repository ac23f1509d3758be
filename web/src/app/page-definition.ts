/** What a page says about itself, as `staticData` of its route. */
import type { LucideIcon } from 'lucide-react';
import type { PageName } from '../messages/page-name.ts';

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
