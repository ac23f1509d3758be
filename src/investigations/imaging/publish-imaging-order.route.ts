/** POST and GET /investigations/imaging/orders/<imaging_order_id>/clinical/publish-fhir. Contract: PUB-2. */
import type { PublishedOrder } from '../publish-order.route.ts';
import { imagingPlace } from './fetch-imaging-order.ts';

export const PUBLISHED_IMAGING_ORDER: PublishedOrder = {
  discipline: 'imaging',
  kind: 'imaging-order',
  what: 'an imaging order, its studies and its reports',
  operation: 'ImagingOrder',
  permission: 'investigations.imaging.write',
  module: 'imaging',
  placeOf: imagingPlace,
};
