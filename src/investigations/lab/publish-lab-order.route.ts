/** POST and GET /investigations/lab/orders/<lab_order_id>/clinical/publish-fhir. Contract: PUB-1. */
import type { PublishedOrder } from '../publish-order.route.ts';
import { labPlace } from './fetch-lab-order.ts';

export const PUBLISHED_LAB_ORDER: PublishedOrder = {
  discipline: 'laboratory',
  kind: 'lab-order',
  what: 'a laboratory order, its results and its reports',
  operation: 'LabOrder',
  permission: 'investigations.lab.release',
  module: 'lab',
  placeOf: labPlace,
};
