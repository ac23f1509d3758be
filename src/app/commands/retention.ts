/** What each part of the service removes over time, as the environment says it. */
import { deliveryRetentionRules } from '../../exchange/queue/retention.store.ts';
import { publishRetentionRules } from '../../publish/history/retention.store.ts';
import { importRetentionRule } from '../../records/import/history/import-run.store.ts';
import { POSITIONS_RETENTION } from '../../records/import/write/entry-positions.store.ts';
import { ACTIVITY_RETENTION } from '../../tenancy/activity/activity.store.ts';
import type { RetentionRule } from '../../tenancy/organisations/retention.ts';
import { unmappedRetentionRule } from '../../terminology/unmapped/unmapped.store.ts';
import type { Config } from '../config/config.ts';

export function retentionRules({ retention }: Pick<Config, 'retention'>): RetentionRule[] {
  const { unmappedCodeDays, importDays, publishDays, ...delivery } = retention;
  return [
    ...deliveryRetentionRules(delivery),
    unmappedRetentionRule(unmappedCodeDays),
    importRetentionRule(importDays),
    ...publishRetentionRules(publishDays),
    POSITIONS_RETENTION,
    ACTIVITY_RETENTION,
  ];
}
