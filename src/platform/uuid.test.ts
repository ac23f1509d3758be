import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatUuid, isUuid, uuidBytes, uuidOfDigest } from './uuid.ts';

test('the one form that ids have is known, and no other', () => {
  const id = randomUUID();
  for (const text of [id, id.toUpperCase(), '00000000-0000-0000-0000-000000000000']) assert.ok(isUuid(text));
  for (const text of [
    '',
    ` ${id}`,
    `${id}\n`,
    `{${id}}`,
    id.slice(1),
    id.replaceAll('-', ''),
    `${id}0`,
    'urn:uuid:x',
  ])
    assert.ok(!isUuid(text), JSON.stringify(text));
});

test('bytes and text go back and forth', () => {
  fc.assert(fc.property(fc.uuid(), (uuid) => assert.equal(formatUuid(uuidBytes(uuid)), uuid)));
});

test('a digest becomes a UUID of its version; the example of RFC 9562, appendix A.4', () => {
  const namespace = uuidBytes('6ba7b810-9dad-11d1-80b4-00c04fd430c8');
  const digest = createHash('sha1').update(namespace).update('www.example.com').digest();
  assert.equal(uuidOfDigest(digest, 5), '2ed6657d-e927-568b-95e1-2665a8aea6a2');
  assert.match(uuidOfDigest(digest, 4), /^2ed6657d-e927-4/);
});
