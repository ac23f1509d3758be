/** What the pages about exchanges read, and the words for it. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import type { components } from '../../api/schema.d.ts';
import { queries } from '../../app/queries.ts';
import type { Tone } from '../../blocks/values/status-badge.tsx';
import { useSession } from '../../shell/session-context.tsx';

export type Delivery = components['schemas']['Delivery'];
export type Connection = components['schemas']['Connection'];
export type Status = Delivery['status'];

export const DELIVERY_TONES: Record<Status, Tone> = {
  queued: 'running',
  held: 'warning',
  delivered: 'good',
  skipped: 'quiet',
};
export const STATUSES = Object.keys(DELIVERY_TONES) as Status[];

export const READ_DELIVERIES = 'exchange.deliveries.read';
export const REVIEW = 'exchange.deliveries.replay';
export const READ_PAYLOADS = 'exchange.deliveries.payload';
export const MANAGE = 'exchange.connections.manage';

/** What a review of held deliveries concerns: as the service takes it. */
export interface Selection {
  deliveryIds?: string[];
  connectionId?: string;
  patientId?: string;
  since?: string;
  until?: string;
}

/**
 * Connections of the facility; undefined until they are read, for those who may not read them, and where they are not
 * `wanted`.
 */
export function useConnections({ wanted = true } = {}): readonly Connection[] | undefined {
  return useConnectionQuery(wanted).data;
}

/** They are on their way: who lists deliveries waits for them, so that no column comes later than the rows. */
export function useConnectionsLoading(): boolean {
  return useConnectionQuery(true).isLoading;
}

function useConnectionQuery(isWanted: boolean) {
  const { may } = useSession();
  return useQuery({
    queryKey: ['exchange-connections'],
    queryFn: async () => (await answered(api.GET('/exchange/connections'))).items,
    enabled: isWanted && may(MANAGE),
  });
}

/** How many are held; undefined until it is known, and for those who may not decide. */
export function useHeldCount(selection: Selection = {}): number | undefined {
  const { may } = useSession();
  const { data } = useQuery({
    queryKey: ['held-count', selection],
    queryFn: async () => (await review('replay', selection, { dryRun: true })).count,
    enabled: may(REVIEW),
    // A number in a page is not worth a notice; the list itself says what failed.
    retry: false,
  });
  return data;
}

export function readConnection(connectionId: string) {
  return queryOptions({
    queryKey: ['exchange-connections', connectionId],
    queryFn: () =>
      answered(api.GET('/exchange/connections/{connectionId}', { params: { path: { connectionId } } })),
  });
}

/** With `dryRun`, only counts. */
export async function review(
  action: 'replay' | 'skip',
  selection: Selection,
  { dryRun, reason = '' }: { dryRun: boolean; reason?: string },
) {
  try {
    return await answered(
      action === 'replay'
        ? api.POST('/exchange/deliveries/replay', { body: { ...selection, dryRun } })
        : api.POST('/exchange/deliveries/skip', { body: { ...selection, dryRun, reason } }),
    );
  } catch (error) {
    // Somebody else has decided: the list is not as it is shown.
    if (error instanceof ApiError && error.status === 409) void readDeliveriesAgain();
    throw error;
  }
}

/** Deliveries have changed. */
export async function readDeliveriesAgain(): Promise<void> {
  const keys = ['deliveries', 'delivery', 'held-count', 'overview'];
  await Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })));
}

/** Why a delivery is held, in a few words and with what to do. */
export function useHeldReason(): (reason: string) => { short: string; help: string } {
  const t = useTranslations('exchange');
  return (reason) => {
    const status = /^refused_(\d+)$/.exec(reason)?.[1];
    if (status !== undefined)
      return { short: t('reasons.refused', { status }), help: t('reasonHelp.refused', { status }) };
    const name = NAMES[reason];
    if (name === undefined) return { short: reason, help: t('reasonHelp.other') };
    return { short: t(`reasons.${name}`), help: t(`reasonHelp.${name}`) };
  };
}

const NAMES: Record<string, 'exhausted' | 'privacy' | 'notCovered'> = {
  retries_exhausted: 'exhausted',
  privacy_refused: 'privacy',
  facility_not_covered: 'notCovered',
};
