/**
 * Errors below the FHIR read interface, for clients that ask for FHIR JSON by its name (docs/encounters.md), and what an unknown
 * path says where FHIR clients look for resources.
 * Contract: HTTP-6.
 */
import type { FastifyRequest } from 'fastify';
import { FHIR_JSON, namesFhirJson } from '../../fhir/media-type.ts';
import { operationOutcome } from '../../fhir/operation-outcome.ts';
import { errorBody } from '../../platform/http/errors.ts';
import type { WrittenError } from '../../platform/http/server.ts';
import type { Words } from '../../platform/words/words.ts';

/** Writes an error as an OperationOutcome that has the members of the error shape too; undefined elsewhere. */
export function fhirErrorWriter(
  interfacePath: string,
): (request: FastifyRequest, statusCode: number, message: string) => WrittenError | undefined {
  const below = new RegExp(`^${RegExp.escape(interfacePath)}(?:[/?]|$)`);
  return ({ url, headers }, statusCode, message) => {
    if (!below.test(url) || !namesFhirJson(headers.accept)) return undefined;
    const body = { ...operationOutcome(statusCode, message), ...errorBody(statusCode, message) };
    return { contentType: FHIR_JSON, body };
  };
}

/**
 * Says where resources are to whoever looks for one at a path that is not there: below `/fhir` or `/encounters/fhir`, or at
 * `/metadata` or a type such as `/Patient`. Each of these counts with the prefix of the API and without it.
 */
export function noSuchFhirPath(apiPrefix: string): (path: string) => Words | undefined {
  const below = new RegExp(
    `^(?i:${RegExp.escape(apiPrefix)})?/(?:(?i:(?:encounters/)?fhir)|metadata|[A-Z][a-z]+(?:[A-Z][a-z]+)*)(?:/|$)`,
  );
  return (path) => (below.test(path) ? WHERE_RESOURCES_ARE : undefined);
}

const WHERE_RESOURCES_ARE: Words = {
  en: 'There is no such path. Capital letters count, and no path ends in a slash. These are below /api/v1. Encounters: /encounters/fhir/Encounter. CapabilityStatement: /encounters/fhir/metadata. Patients: /patients/base, and as FHIR /patients/base/<id>/clinical/fhir. Orders with their results and reports: /investigations/lab/orders and /investigations/imaging/orders. Vital signs: /encounters/vitals. One DiagnosticReport, ImagingStudy, Observation, ServiceRequest or Specimen is read by its id alone, as in /fhir/Observation/<id>. Every path is listed on the page whose address ends in /api/v1/docs.',
  fr: 'Ce chemin n’existe pas. Les majuscules comptent, et aucun chemin ne se termine par une barre oblique. Ceux-ci sont sous /api/v1. Encounter : /encounters/fhir/Encounter. CapabilityStatement : /encounters/fhir/metadata. Patients : /patients/base et, en FHIR, /patients/base/<id>/clinical/fhir. Demandes avec leurs résultats et leurs comptes rendus : /investigations/lab/orders et /investigations/imaging/orders. Signes vitaux : /encounters/vitals. DiagnosticReport, ImagingStudy, Observation, ServiceRequest et Specimen se lisent un par un, par leur seul identifiant, comme /fhir/Observation/<id>. Tous les chemins sont sur la page dont l’adresse se termine par /api/v1/docs.',
};
