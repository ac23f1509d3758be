/** GET /exchange/deliveries: what is queued, held, delivered or skipped at the facility. Contract: EXC-28. */

import { parseDateTime } from '../../fhir/date-time.ts';
import { badRequest } from '../../platform/http/errors.ts';
import { requireUuid } from '../../platform/http/input.ts';
import { onePage, PAGE_PARAMETERS } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import type { TracedListDependencies } from '../../privacy/authorise-access.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { DELIVERY_STATUSES, DeliverySchema } from './delivery.schema.ts';
import { listDeliveryPage } from './list-deliveries.ts';

const WHEN = 'A FHIR date, in the time zone of the facility, or a date-time.';

export function listDeliveriesRoute(deps: TracedListDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.read'], module: 'exchange', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'listDeliveries',
        summary: 'List the deliveries of the facility',
        description:
          'Newest first, without payloads. The service enters each patient shown in ' +
          "that patient's access log. It does not name a patient who refuses the purpose.",
        tag: 'Exchange',
      },
      query: Type.Object({
        connection: Type.Optional(Type.String({ description: 'UUID of a connection: only its deliveries.' })),
        patient: Type.Optional(
          Type.String({ description: 'UUID of a patient: only deliveries of this patient.' }),
        ),
        status: Type.Optional(Choice(DELIVERY_STATUSES)),
        since: Type.Optional(Type.String({ description: `Queued then or later. ${WHEN}` })),
        until: Type.Optional(Type.String({ description: `Queued before that. ${WHEN}` })),
        ...PAGE_PARAMETERS,
      }),
      responses: onePage(DeliverySchema),
      handle: async ({ query }, context) => {
        const { scope } = context;
        const { connection, patient, status, since, until, ...page } = query;
        requireUuid('connection', connection);
        requireUuid('patient', patient);
        const filter = {
          connectionId: connection,
          patientId: patient,
          since: parseInstant('since', since, scope.timeZone),
          until: parseInstant('until', until, scope.timeZone),
        };
        return { body: await listDeliveryPage(deps, context, { filter, status, ...page }) };
      },
    },
  );
}

/** The first instant of a FHIR date or date-time. */
export function parseInstant(name: string, value: string | undefined, timeZone: string): Date | undefined {
  if (value === undefined) return undefined;
  const parsed = parseDateTime(value);
  if (parsed === undefined)
    throw badRequest({
      en: `${name} must be a date or a date-time with a zone, such as 2026-03-01.`,
      fr: `${name} doit être une date, ou une date avec heure et fuseau, par exemple 2026-03-01.`,
    });
  return parsed.span(timeZone).start;
}
