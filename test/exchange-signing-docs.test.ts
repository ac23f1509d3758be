/** The receiver's checks printed in docs/signing.md run here, as they are printed, on the published vectors. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

interface Vector {
  name: string;
  secret: string;
  method: string;
  path: string;
  query: string;
  body: string;
  time: string;
  nonce: string;
  clientId: string;
  bodyHash: string;
  signature: string;
}
const docs = new URL('../docs/', import.meta.url);
const page = readFileSync(new URL('signing.md', docs), 'utf8');
const { requests, callbacks } = JSON.parse(readFileSync(new URL('signing-vectors.json', docs), 'utf8')) as {
  requests: Vector[];
  callbacks: { secret: string; body: string; digest: string }[];
};
const folder = mkdtempSync(join(tmpdir(), 'signing-docs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The code blocks of one language, in their order on the page. */
function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    (match) => match[1] ?? '',
  );
}

function save(name: string, text: string | undefined): string {
  assert.ok(text, `docs/signing.md lost the code of ${name}`);
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const target = (vector: Vector) => (vector.query === '' ? vector.path : `${vector.path}?${vector.query}`);
const headers = (vector: Vector) => ({
  'x-client-id': vector.clientId,
  'x-signature-time': vector.time,
  'x-signature-nonce': vector.nonce,
  'x-content-sha256': vector.bodyHash,
  'x-signature': vector.signature,
});
/** Requests that a receiver must refuse, each one change away from a vector. */
function forgeries(vector: Vector): [string, Vector][] {
  const lastDigit = vector.signature.endsWith('0') ? '1' : '0';
  return [
    ['another body', { ...vector, body: `${vector.body} ` }],
    ['another method', { ...vector, method: 'PATCH' }],
    ['another path', { ...vector, path: `${vector.path}x` }],
    ['another query', { ...vector, query: `${vector.query}&x=1` }],
    ['another nonce', { ...vector, nonce: `${vector.nonce}x` }],
    ['another client', { ...vector, clientId: `${vector.clientId}x` }],
    ['another secret', { ...vector, secret: `${vector.secret}x` }],
    ['another signature', { ...vector, signature: vector.signature.slice(0, -1) + lastDigit }],
    ['no signature', { ...vector, signature: '' }],
  ];
}

describe('docs/signing.md', () => {
  test('TypeScript check [EXC-9]', async () => {
    const path = save('receive.ts', blocks('ts')[0]);
    const { isFromInterchange } = (await import(pathToFileURL(path).href)) as {
      isFromInterchange: (
        received: { method: string; target: string; headers: Record<string, string>; body: Uint8Array },
        clientId: string,
        secrets: string[],
        now: Date,
        firstUse: (nonce: string) => boolean,
      ) => boolean;
    };
    const check = (vector: Vector, laterMs = 0, fresh = true, client = vector.clientId) =>
      isFromInterchange(
        {
          method: vector.method,
          target: target(vector),
          headers: headers(vector),
          body: Buffer.from(vector.body),
        },
        client,
        ['an older one', vector.secret],
        new Date(Date.parse(vector.time) + laterMs),
        () => fresh,
      );
    for (const vector of requests) {
      assert.equal(check(vector), true, vector.name);
      assert.equal(check(vector, 300_001), false);
      assert.equal(check(vector, 0, false), false);
      assert.equal(check(vector, 0, true, 'somebody else'), false);
      for (const [name, forged] of forgeries(vector))
        assert.equal(check(forged), false, `${vector.name}: ${name}`);
    }
  });

  test('Python check [EXC-9]', () => {
    save('receive.py', blocks('python')[0]);
    const cases = requests.flatMap((vector) => [
      { ...vector, good: true, later: 0, fresh: true },
      { ...vector, good: false, later: 301, fresh: true },
      { ...vector, good: false, later: 0, fresh: false },
      ...forgeries(vector).map(([, forged]) => ({ ...forged, good: false, later: 0, fresh: true })),
    ]);
    const run = save(
      'run.py',
      `
import json, sys
from datetime import datetime, timedelta, timezone
from receive import is_from_interchange
for case in json.load(sys.stdin):
    now = datetime.strptime(case["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc) + timedelta(seconds=case["later"])
    headers = {"x-client-id": case["clientId"], "x-signature-time": case["time"], "x-signature-nonce": case["nonce"],
        "x-content-sha256": case["bodyHash"], "x-signature": case["signature"]}
    target = case["path"] + ("?" + case["query"] if case["query"] else "")
    good = is_from_interchange(case["method"], target, headers, case["body"].encode(), case["clientId"],
        ["an older one", case["secret"]], now, lambda nonce: case["fresh"])
    assert good == case["good"], case["name"]
print("checked")
`,
    );
    const result = spawnSync('python3', [run], { input: JSON.stringify(cases), encoding: 'utf8' });
    assert.equal(result.stdout.trim(), 'checked', result.stderr);
  });

  test('shell check [EXC-9]', () => {
    const script = save('receive.sh', blocks('sh')[0]);
    const check = (vector: Vector) => {
      writeFileSync(join(folder, 'body'), vector.body);
      return spawnSync('sh', [script], {
        env: {
          PATH: process.env.PATH,
          METHOD: vector.method,
          TARGET: target(vector),
          BODY_FILE: join(folder, 'body'),
          SECRET: vector.secret,
          CLIENT_ID: vector.clientId,
          TIME: vector.time,
          NONCE: vector.nonce,
          CONTENT_SHA256: vector.bodyHash,
          SIGNATURE: vector.signature,
        },
        encoding: 'utf8',
      });
    };
    for (const vector of requests) {
      const result = check(vector);
      assert.equal(result.status, 0, `${vector.name}: ${result.stderr}`);
      for (const [name, forged] of forgeries(vector))
        assert.equal(check(forged).status, 1, `${vector.name}: ${name}`);
    }
  });

  test('shell lines that sign a callback', () => {
    const lines = blocks('sh')[1] ?? '';
    for (const { secret, body, digest } of callbacks) {
      const only: string = lines
        .split('\n')
        .filter((line) => line.startsWith('DIGEST='))
        .join('\n');
      const result: { stdout: string; stderr: string } = spawnSync(
        'sh',
        ['-c', `${only}\nprintf %s "$DIGEST"`],
        {
          env: { PATH: process.env.PATH, CALLBACK_SECRET: secret, BODY: body },
          encoding: 'utf8',
        },
      );
      assert.equal(result.stdout, digest, result.stderr);
    }
  });
});
