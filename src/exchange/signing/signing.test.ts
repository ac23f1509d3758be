import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { matchingSecret } from './callback-signature.ts';
import {
  canonicalRequest,
  type SignedParts,
  sortQuery,
  UnsignableRequestError,
} from './canonical-request.ts';
import { signRequest } from './signed-request.ts';
import { type ReceivedRequest, verifyRequest } from './verify-request.ts';

interface RequestVector extends Omit<SignedParts, 'bodyHash'> {
  name: string;
  secret: string;
  body: string;
  bodyHash: string;
  canonical: string;
  signature: string;
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../docs/signing-vectors.json', import.meta.url), 'utf8'),
) as {
  requests: RequestVector[];
  refused: RequestVector[];
  callbacks: { name: string; secret: string; body: string; digest: string }[];
};

const NOW = new Date('2026-03-01T12:00:00Z');
const part = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !/[\r\n]/.test(text));
const ascii = fc.string({ unit: fc.constantFrom(...'abcXYZ019-._~%2F&=+'), maxLength: 40 });
const parts: fc.Arbitrary<SignedParts> = fc.record({
  method: part,
  path: part,
  query: ascii,
  bodyHash: part,
  time: part,
  nonce: part,
  clientId: part,
});

describe('canonical request', () => {
  for (const vector of vectors.requests) {
    test(`vector: ${vector.name} [EXC-9, EXC-12]`, () => {
      assert.equal(canonicalRequest(vector), vector.canonical);
      const headers = signRequest({ ...vector, time: new Date(vector.time) }, vector.secret);
      assert.deepEqual(headers, {
        'x-client-id': vector.clientId,
        'x-signature-time': vector.time,
        'x-signature-nonce': vector.nonce,
        'x-content-sha256': vector.bodyHash,
        'x-signature': vector.signature,
      });
    });
  }

  for (const vector of vectors.refused) {
    test(`refuses ${vector.name}`, () => {
      assert.throws(
        () => signRequest({ ...vector, time: new Date(vector.time) }, vector.secret),
        UnsignableRequestError,
      );
    });
  }

  test('refuses CR and LF in every part [SEC-16]', () => {
    const names: (keyof SignedParts)[] = ['method', 'path', 'query', 'bodyHash', 'time', 'nonce', 'clientId'];
    fc.assert(
      fc.property(
        parts,
        fc.constantFrom(...names),
        fc.constantFrom('\r', '\n', '\r\n'),
        fc.nat(),
        (base, name, end, at) => {
          const text = base[name];
          const broken = text.slice(0, at % (text.length + 1)) + end + text.slice(at % (text.length + 1));
          assert.throws(() => canonicalRequest({ ...base, [name]: broken }), UnsignableRequestError);
        },
      ),
    );
  });

  test('is eight lines, and differs whenever a part differs [EXC-9]', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const text = canonicalRequest(one);
        assert.equal(text.split('\n').length, 8);
        const same =
          sortQuery(one.query) === sortQuery(other.query) &&
          (['method', 'path', 'bodyHash', 'time', 'nonce', 'clientId'] as const).every(
            (name) => one[name] === other[name],
          );
        assert.equal(text === canonicalRequest(other), same);
      }),
    );
  });

  test('sorts the query the same whatever order it is sent in, and loses nothing [EXC-10]', () => {
    fc.assert(
      fc.property(fc.array(ascii.map((text) => text.replaceAll('&', ''))), fc.nat(), (parameters, seed) => {
        const shuffled = parameters.toSorted(
          (a, b) => ((a.length * 31 + seed) % 7) - ((b.length * 31 + seed) % 7),
        );
        assert.equal(sortQuery(parameters.join('&')), sortQuery(shuffled.join('&')));
        assert.deepEqual(
          sortQuery(parameters.join('&')).split('&').sort(),
          parameters.join('&').split('&').sort(),
        );
      }),
    );
  });
});

describe('signature check', () => {
  const sent = (): ReceivedRequest => {
    const body = '{"deliveryId":"d","resource":{"name":"Zoë"}}';
    const headers = signRequest(
      {
        method: 'POST',
        path: '/in/a%20b',
        query: 'b=2&a=1',
        body,
        clientId: 'client-1',
        time: NOW,
        nonce: 'n-1',
      },
      'the secret',
    );
    return { method: 'POST', target: '/in/a%20b?b=2&a=1', headers, body: Buffer.from(body) };
  };
  const check = (
    request: ReceivedRequest,
    now = NOW,
    secrets = ['other', 'the secret'],
    firstUse = () => true,
  ) => verifyRequest(request, { clientId: 'client-1', secrets, now, toleranceMs: 300_000, firstUse });

  test('holds for what was signed, under either secret of a rotation [EXC-7]', () => {
    assert.equal(check(sent()), 'valid');
    assert.equal(check(sent(), NOW, ['the secret', 'next']), 'valid');
    assert.equal(check(sent(), NOW, ['next']), 'wrong-signature');
    assert.equal(check(sent(), NOW, []), 'wrong-signature');
  });

  test('fails for every change of a single byte in every signed part [EXC-9, SEC-15]', () => {
    const places: [string, number][] = [];
    const request = sent();
    for (let index = 0; index < request.body.length; index += 1) places.push(['body', index]);
    for (let index = 0; index < request.method.length; index += 1) places.push(['method', index]);
    for (let index = 0; index < request.target.length; index += 1) places.push(['target', index]);
    for (const [name, value] of Object.entries(request.headers))
      for (let index = 0; index < String(value).length; index += 1) places.push([name, index]);
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.integer({ min: 1, max: 255 }), ([where, index], flip) => {
        assert.notEqual(check(withByteFlipped(sent(), where, index, flip)), 'valid');
      }),
      { numRuns: 3_000, examples: [[['x-signature-nonce', 1], 0x2d ^ 0x0a]] },
    );
  });

  test('refuses times more than five minutes away and nonces seen before [EXC-11]', () => {
    const at = (ms: number) => new Date(NOW.getTime() + ms);
    assert.equal(check(sent(), at(300_000)), 'valid');
    assert.equal(check(sent(), at(-300_000)), 'valid');
    assert.equal(check(sent(), at(300_001)), 'stale');
    assert.equal(check(sent(), at(-300_001)), 'stale');
    assert.equal(
      check(sent(), NOW, ['the secret'], () => false),
      'replayed',
    );
  });

  test('refuses a request that lacks any of its headers or carries one twice', () => {
    for (const name of Object.keys(sent().headers)) {
      const missing = sent();
      assert.notEqual(check({ ...missing, headers: { ...missing.headers, [name]: undefined } }), 'valid');
      assert.notEqual(check({ ...missing, headers: { ...missing.headers, [name]: ['a', 'b'] } }), 'valid');
    }
  });
});

describe('callback signature', () => {
  for (const vector of vectors.callbacks) {
    test(`vector: ${vector.name} [EXC-12, EXC-35]`, () => {
      const body = Buffer.from(vector.body);
      assert.equal(matchingSecret(vector.digest, body, [vector.secret]), 0);
      assert.equal(matchingSecret(`sha256=${vector.digest}`, body, ['other', vector.secret]), 1);
      assert.equal(matchingSecret(vector.digest.toUpperCase(), body, [vector.secret]), 0);
    });
  }

  test('fails for every change of a single byte of body, digest and secret [EXC-36, SEC-15]', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (body, at, flip) => {
          const digest = createHmac('sha256', 'secret').update(body).digest();
          assert.equal(matchingSecret(digest.toString('hex'), body, ['secret']), 0);
          const changed = body.slice();
          changed[at % body.length] = (changed[at % body.length] ?? 0) ^ flip;
          assert.equal(matchingSecret(digest.toString('hex'), changed, ['secret']), -1);
          digest[at % 32] = (digest[at % 32] ?? 0) ^ flip;
          assert.equal(matchingSecret(digest.toString('hex'), body, ['secret']), -1);
        },
      ),
    );
    const digest = createHmac('sha256', 'secret').update('{}').digest('hex');
    assert.equal(matchingSecret(digest, Buffer.from('{}'), ['secreT']), -1);
  });

  test('refuses what is missing, malformed, repeated or has no secret', () => {
    const body = Buffer.from('{}');
    const digest = createHmac('sha256', 'secret').update(body).digest('hex');
    const bad = [
      undefined,
      '',
      'sha256=',
      digest.slice(1),
      `${digest}0`,
      `sha1=${digest}`,
      ` ${digest}`,
      `${digest}\n`,
      `sha256=sha256=${digest}`,
      `${digest}, ${digest}`,
      [digest, digest],
      'zz'.repeat(32),
      '00'.repeat(32),
    ];
    for (const header of bad) assert.equal(matchingSecret(header, body, ['secret']), -1, String(header));
    assert.equal(matchingSecret(digest, body, []), -1);
  });
});

function withByteFlipped(
  request: ReceivedRequest,
  where: string,
  index: number,
  flip: number,
): ReceivedRequest {
  const flipText = (text: string) => {
    const bytes = Buffer.from(text, 'latin1');
    bytes[index] = (bytes[index] ?? 0) ^ flip;
    return bytes.toString('latin1');
  };
  if (where === 'body') {
    const body = Buffer.from(request.body);
    body[index] = (body[index] ?? 0) ^ flip;
    return { ...request, body };
  }
  if (where === 'method') return { ...request, method: flipText(request.method) };
  if (where === 'target') return { ...request, target: flipText(request.target) };
  return { ...request, headers: { ...request.headers, [where]: flipText(String(request.headers[where])) } };
}
