/**
 * Errors below the FHIR read interface, for clients that ask for FHIR JSON by its name (docs/encounters.md).
 * Contract: HTTP-6.
 */
import type { FastifyRequest } from 'fastify';
import { FHIR_JSON, namesFhirJson } from '../../fhir/media-type.ts';
import { operationOutcome } from '../../fhir/operation-outcome.ts';
import { errorBody } from '../../platform/http/errors.ts';
import type { WrittenError } from '../../platform/http/server.ts';

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
