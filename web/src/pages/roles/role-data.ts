/** Permissions, in the areas in which an administrator looks for them. */
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { queries } from '../../app/queries.ts';

type Catalogue = Answer<'/roles/permissions'>;
export type PermissionItem = Catalogue['items'][number];
export type Preset = Catalogue['presets'][number];
/** What a role is made of: names that the service knows. */
export type PermissionName =
  paths['/roles']['post']['requestBody']['content']['application/json']['permissions'][number];

export const AREAS = [
  'patients',
  'encounters',
  'investigations',
  'publish',
  'records',
  'terminology',
  'exchange',
  'administration',
  'other',
] as const;
export type Area = (typeof AREAS)[number];

const OF_ADMINISTRATION = ['accounts', 'people', 'roles', 'facilities', 'administration'];

export function areaOf(permission: string): Area {
  const [first = ''] = permission.split('.');
  if (OF_ADMINISTRATION.includes(first)) return 'administration';
  return AREAS.find((area) => area === first) ?? 'other';
}

export function usePermissions() {
  return useQuery({ queryKey: ['permissions'], queryFn: () => answered(api.GET('/roles/permissions')) });
}

/** A role was changed: also what accounts show of it, and perhaps what the person may do. */
export async function readRolesAgain(): Promise<void> {
  const keys = ['roles', 'accounts', 'account', 'session'];
  await Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })));
}
