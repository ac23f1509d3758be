/** What the pages about publishing read. */
import { useQuery } from '@tanstack/react-query';
import type { Answer, Item } from '../../api/answer.ts';
import { answered, api, send } from '../../api/api.ts';
import { fhirBody } from '../../api/fhir-body.ts';
import type { components } from '../../api/schema.d.ts';
import type { Tone } from '../../blocks/values/status-badge.tsx';

export type Publication = Item<'/publish/publications'>;
export type Target = components['schemas']['PublishTarget'];
export type Run = components['schemas']['PublishRun'];
type OfPublish = Answer<'/investigations/lab/orders/{orderId}/clinical/publish-fhir', 'post'>;
export type Plan = Extract<OfPublish, { dryRun: true }>;
export type Published = Exclude<OfPublish, Plan>;
export type PublishedKind = Publication['kind'];

export const PUBLICATION_TONES: Record<Publication['state'], Tone> = {
  running: 'running',
  done: 'good',
  failed: 'bad',
  interrupted: 'warning',
};

/** Where each kind of record is published, and what a person must hold for it. */
export const PUBLISHED_KINDS: Record<PublishedKind, { path: string; permission: string }> = {
  lab: { path: '/investigations/lab/orders', permission: 'investigations.lab.release' },
  imaging: { path: '/investigations/imaging/orders', permission: 'investigations.imaging.write' },
  vitals: { path: '/encounters/vitals', permission: 'encounters.vitals.manage' },
};

export function isKind(text: string): text is PublishedKind {
  return Object.hasOwn(PUBLISHED_KINDS, text);
}

export async function readTargets(): Promise<Target[]> {
  return (await answered(api.GET('/publish/targets'))).items;
}

/** undefined until they are read. */
export function useTargets(): readonly Target[] | undefined {
  return useQuery({ queryKey: ['publish-targets'], queryFn: readTargets }).data;
}

/** The route of a record: its publishes (GET), and the publish of it (POST). */
export async function ofRecord<Body>(
  method: 'GET' | 'POST',
  { kind, recordId }: { kind: PublishedKind; recordId: string },
  query: Record<string, string>,
): Promise<Body> {
  const text = new URLSearchParams(query).toString();
  const path = `${PUBLISHED_KINDS[kind].path}/${encodeURIComponent(recordId)}/clinical/publish-fhir?${text}`;
  return (await fhirBody(await send(method, path))) as Body;
}
