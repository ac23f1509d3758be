import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import { useEmptyApi } from '../../test-support/service/api.ts';

const api = await useEmptyApi();

test('the capability statement is open to anyone and says what the interface does [ENC-34]', async () => {
  const answer = await api.call('/encounters/fhir/metadata');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  const statement = answer.json;
  assert.equal(statement.resourceType, 'CapabilityStatement');
  assert.deepEqual(fhirFaults(statement), []);
  assert.equal(statement.fhirVersion, '4.0.1');
  assert.equal(statement.kind, 'instance');
  assert.equal(statement.implementation.url, `${api.baseUrl}/encounters/fhir`);
  const [rest] = statement.rest;
  assert.equal(rest.mode, 'server');
  assert.ok(rest.security.description.includes('/auth/login'));
  const [resource] = rest.resource;
  assert.equal(resource.type, 'Encounter');
  assert.deepEqual(resource.interaction, [{ code: 'read' }, { code: 'search-type' }]);
  assert.deepEqual(
    resource.searchParam.map((parameter: { name: string }) => parameter.name),
    ['patient', 'subject', '_id', 'status', 'date', 'purposeOfUse', '_count'],
  );
});

test('it is answered as FHIR JSON only', async () => {
  const answer = await api.call('/encounters/fhir/metadata', { headers: { accept: 'application/fhir+xml' } });
  assert.equal(answer.status, 406);
});
