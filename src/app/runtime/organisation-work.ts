/** What a process says about background work that fails for some organisations: in the log when that changes, and as a metric. Contract: OPS-29. */
import { Gauge, type Registry } from 'prom-client';
import { errorFields, type Log } from '../../platform/log/log.ts';
import type { WorkChange, WorkWatch } from '../../tenancy/organisations/organisation-work.ts';

export function logWorkChange(log: Log, { work, organisationId, error }: WorkChange): void {
  if (error === undefined)
    log.info(
      { event: 'organisation-work.done-again', reason: work, organisationId },
      'background work of an organisation is done again',
    );
  else
    log.warn(
      { event: 'organisation-work.failing', reason: work, organisationId, ...errorFields(error) },
      'background work fails for an organisation; it is tried again by itself, and the other organisations are served',
    );
}

export function registerWorkGauge(registry: Registry, watch: Pick<WorkWatch, 'failing'>): void {
  new Gauge({
    name: 'interchange_organisation_work_failing',
    help: '1 for each organisation that background work of the process fails for, by kind of work.',
    labelNames: ['work', 'organisation'],
    registers: [registry],
    // Processes of one machine may fail for the same one.
    aggregator: 'max',
    collect() {
      this.reset();
      for (const [work, organisationIds] of watch.failing())
        for (const organisation of organisationIds) this.set({ work, organisation }, 1);
    },
  });
}
