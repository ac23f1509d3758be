/**
 * An example of each error, by status and code, for the OpenAPI document. docs/errors.md says when each is answered.
 * A test holds that every code of that page has one, and that each message is one that the source can answer with.
 */
export const ERROR_EXAMPLES: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  400: {
    bad_callback: 'An accepted delivery needs assignedId: the id that the exchange gave the patient.',
    bad_connection_setting: 'The name must be 1 to 200 characters of one line.',
    bad_cursor:
      'cursor is not one that this search gave. Take it unchanged from the previous page, with the same parameters and headers.',
    bad_date: 'date takes the prefixes ge, le and eq, or none.',
    bad_encoding: 'The parameters are not percent-encoded UTF-8. Send % itself as %25.',
    bad_filter: 'account must be one UUID.',
    bad_json: 'The body is not valid JSON.',
    bad_map_entry:
      'The entry is refused: target code is not a LOINC code: digits, a hyphen and a check digit, such as 718-7.',
    bad_map_file: 'The file is not UTF-8. FHIR JSON is always UTF-8.',
    bad_reason: 'reason must be one line of text.',
    bad_request: 'Unknown query parameter page, and Prefer asks for strict handling.',
    bad_utf8: 'The body is not valid UTF-8.',
    bad_status_system: 'status takes the system http://hl7.org/fhir/encounter-status, or none.',
    body_given: 'This call takes no body; name the target with ?target=.',
    empty_body: 'The body is empty. Send a JSON document.',
    facility_missing:
      'x-facility-id is missing and this account has no default facility. Send the facility id.',
    header_repeated: 'The header Authorization was sent more than once. Send it once.',
    host_missing: 'The header Host is missing.',
    json_too_deep: 'The JSON is nested deeper than 64 levels.',
    malformed_header: 'The header x-facility-id must be one UUID. Send the id as it was given to you.',
    no_such_target: 'There is no target of that name. Leave target out for the default one.',
    not_fhir: 'The body is not valid JSON.',
    password_refused: 'The password must not be the email address.',
    search_too_long: 'search takes up to 8 words.',
    several_ids: '_id takes one id. Read or search each Encounter by itself.',
    two_patients: 'patient and subject name different patients. Send one of them.',
    unusable_text: 'The request has a NUL character or a broken Unicode character. Remove it.',
    validation: 'purposeOfUse is missing. It must be one of TREATMENT, PAYMENT, OPS, RESEARCH.',
  },
  401: {
    callback_signature:
      'The callback is not signed with a secret of this connection. Sign the exact bytes of the body.',
    refresh_refused: 'The refresh token is unknown, expired, used or revoked. Sign in again.',
    session_ended: 'The session has ended. Sign in again.',
    token_missing: 'The access token is missing. Send the header Authorization: Bearer <accessToken>.',
    token_refused:
      'The access token is not valid: it is expired or revoked, or this service did not issue it. Refresh it and retry once; if that fails, sign in again.',
  },
  403: {
    invalid_credentials:
      'The identity, the credential or the user type is wrong, or the account cannot sign in. Check all three.',
    module_disabled: 'The module lab is not enabled for this facility.',
    password_change_required:
      'This account must change its password in the web application before it can be used.',
    permission_missing:
      'This account lacks the permission investigations.lab.list. Ask the facility administrator.',
    purpose_refused:
      'The privacy setting of this record refuses this purpose of use. Do not retry with the same purpose.',
    setup_link_refused: 'This setup link was used or is too old. Ask for a new one.',
    tenancy_refused:
      'This account may not use this organisation or facility. Check x-org-id and x-facility-id.',
  },
  404: { not_found: 'The patient was not found. Check the id and the facility headers.' },
  406: {
    not_acceptable:
      'This is answered as application/fhir+json only. Accept it, application/json or */*, or send _format=json.',
  },
  408: {
    upload_stalled:
      'The import was given up: nothing of its body arrived for 60 seconds. Nothing was kept. Send it again.',
  },
  409: {
    assigned_id_conflict:
      'This patient has another id from this exchange already. The callback is kept for review.',
    no_waiting_secret: 'No new outbound secret waits to be activated. Rotate the secret first.',
    not_held:
      'A delivery named is not held, or not one that the rest of the filter means, so nothing was done. Look at it first.',
    patient_changed: 'The record was given to another patient meanwhile. Publish again.',
  },
  410: {
    payload_removed:
      'The payload of this delivery was removed: it is kept for a limited time after the delivery (DELIVERY_PAYLOAD_DAYS).',
  },
  413: { body_too_large: 'The body is larger than 65536 bytes.' },
  415: {
    content_encoding: 'A body with a content encoding, such as gzip, is not taken here. Send it as it is.',
    media_type: 'This content type is not taken here. Send application/json.',
  },
  422: {
    record_too_large: 'The laboratory order has more than 24 MiB, too much for one answer.',
    unmapped_codes:
      'These local codes have no standard code: http://hospital.example/lab|GLU. Map them in the terminology maps, or let the operator allow local codes at the target. Nothing was sent.',
  },
  429: {
    sign_in_locked:
      'Too many failed sign-ins. Wait before signing in again; retry-after says how many seconds.',
  },
  500: { internal: 'The service failed. Quote the correlation id 6f1c2c2e-6d7e-4b1c-9d53-0a4f6f0c1b7d.' },
  502: {
    circuit_open:
      'The target national did not answer lately and is left alone for 12 seconds. Nothing was sent.',
    target_refused:
      'Publishing to national stopped at Observation 8d3f2f06-9a51-4c52-8a07-6b1f0f4a2c11: PUT answered 422 (error invalid). 1 of 3 resources are stored there. Publish again to go on.',
    target_unavailable:
      'Publishing to national stopped at Observation 8d3f2f06-9a51-4c52-8a07-6b1f0f4a2c11: PUT was not answered (ETIMEDOUT). 1 of 3 resources are stored there. Publish again to go on.',
  },
  503: {
    access_log: 'The access log could not be written, so the data is not released. Try again shortly.',
    clock:
      'The clock of this node differs too much from the clock of the database, so it issues no tokens. Try again in 30 seconds, and tell the operator.',
    database: 'The database cannot be reached. Try again shortly.',
    database_refuses:
      'The database has no room or memory left, or takes no writes. Try again in a minute, and tell the operator.',
    database_slow: 'The database took too long for this. Try again shortly.',
    no_target:
      'No FHIR server is configured as the default one. Name one with ?target=. The operator adds one with interchange target create, or makes one the default with interchange target update --default.',
    publish_busy:
      "Another publish of this record, or of this patient's, is under way. Publish again when it has ended.",
    publish_overtaken: 'This publish was overtaken by another one. Publish again.',
    sign_in_overloaded: 'Too many sign-ins are under way. Try again shortly.',
    target_address:
      'The address of the target must not be used. The operator changes it: interchange target update --base.',
    target_disabled: 'The target national is disabled. Ask the operator.',
    target_secret:
      'The secret of the target cannot be opened. Set it anew: interchange target rotate-secret.',
    too_many_waiting:
      '20 publishes of this account wait for others to end, and no more may. Nothing was sent. Wait for their answers, then publish again.',
    unavailable: 'Another import of this organisation is running. Send this one again when it has ended.',
  },
};
