/**
 * An example of each error, by status and code, for the OpenAPI document. docs/errors.md says when each is answered.
 * A test holds that every code of that page has one, and that each message is one that the source can answer with.
 */

import { clinicalError } from '../../clinical/errors.ts';
import { encounterError } from '../../encounters/errors.ts';
import { exchangeError } from '../../exchange/errors.ts';
import { fhirError } from '../../fhir/errors.ts';
import { patientError } from '../../patients/errors.ts';
import { worded } from '../../platform/domain-error.ts';
import { pageError } from '../../platform/errors.ts';
import { privacyError } from '../../privacy/errors.ts';
import { publishError } from '../../publish/errors.ts';
import { importError } from '../../records/errors.ts';
import { signInError } from '../../sign-in/errors.ts';
import { tenancyError } from '../../tenancy/errors.ts';
import { terminologyError } from '../../terminology/errors.ts';

type Examples = Readonly<Record<number, Readonly<Record<string, string>>>>;

/** The errors of use cases have their examples in their own words. */
const CATALOGUES = [
  exchangeError,
  publishError,
  tenancyError,
  privacyError,
  signInError,
  terminologyError,
  fhirError,
  clinicalError,
  patientError,
  encounterError,
  importError,
  pageError,
];

/** Errors that HTTP itself and its routes answer with. */
const OWN: Examples = {
  400: {
    bad_callback:
      'assignedId is missing. A callback that accepts must send the id that the exchange assigned to the patient.',
    bad_encoding: 'The parameters are not percent-encoded UTF-8. Send % itself as %25.',
    bad_json: 'The body is not valid JSON.',
    bad_reason: 'reason must be one line of text that is not empty.',
    bad_request: 'The query parameter page is unknown. Remove it, or send no Prefer: handling=strict.',
    bad_utf8: 'The body is not valid UTF-8.',
    body_given: 'This call takes no body. Leave it out, and name the target with ?target=.',
    empty_body: 'The body is empty. Send a JSON document.',
    forbidden_key: 'The body has a key __proto__, or a key prototype in constructor. Remove it.',
    header_repeated: 'The header Authorization was sent more than once. Send it once.',
    host_malformed: 'The header Host holds no host. Send it as host or host:port.',
    host_missing: 'The header Host is missing. Send it.',
    json_too_deep: 'The JSON is nested deeper than 64 levels. Send a flatter document.',
    not_fhir: 'The content is not valid JSON.',
    transfer_coding: 'The service takes no transfer coding but chunked. Send the body with chunked alone.',
    unusable_text: 'The request contains a NUL character or a broken Unicode character. Remove it.',
    validation: 'purposeOfUse is missing. It must be one of TREATMENT, PAYMENT, OPS, RESEARCH.',
  },
  403: {
    console_header_missing: 'The header x-interchange-console: 1 is missing. Send it.',
    other_site: 'A page of another site may not call the console.',
  },
  401: {
    token_missing: 'The access token is missing. Send the header Authorization: Bearer <accessToken>.',
  },
  413: { body_too_large: 'The body is larger than 65536 bytes. Send less at once.' },
  415: {
    content_encoding: 'This call does not accept a compressed body. Send it without a content encoding.',
    media_type: 'This call does not accept that content type. Send application/json.',
  },
  500: {
    internal:
      'The service failed. Send the request again once. If it fails again, give the operator the correlation id 6f1c2c2e-6d7e-4b1c-9d53-0a4f6f0c1b7d.',
  },
  503: {
    console_not_built:
      'The console is not built here. Ask the operator to run npm run console:build, then load this page again.',
    database: 'The service cannot reach its database. Try again shortly.',
    database_refuses:
      'The database is out of disk space or memory, or is read-only. Try again in a minute, and tell the operator.',
    database_slow: 'The database took too long to answer. Try again shortly.',
    unavailable: 'Another import is running for this organisation. Try again when it has ended.',
  },
};

export const ERROR_EXAMPLES: Examples = allExamples();

function allExamples(): Examples {
  const all = new Map<string, Map<string, string>>();
  for (const [status, messages] of Object.entries(OWN)) all.set(status, new Map(Object.entries(messages)));
  for (const { catalogue } of CATALOGUES)
    for (const [code, { status, text, example }] of Object.entries(catalogue)) {
      if (status === undefined) continue;
      const messages = all.getOrInsert(String(status), new Map());
      if (!messages.has(code)) messages.set(code, worded(text, example ?? {}));
    }
  return Object.fromEntries(
    Array.from(all, ([status, messages]) => [status, Object.fromEntries([...messages].sort())]),
  );
}
