import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createCallerDirectory } from './caller-directory.ts';

const organisationId = randomUUID();
const identity = { accountId: randomUUID(), sessionId: randomUUID() };

describe('createCallerDirectory', () => {
  /** Reads that wait until the test answers them. */
  let reads: { answer: (permissions: string[] | undefined) => void }[];
  let directory: ReturnType<typeof createCallerDirectory>;

  /** Reads of the organisation of an account. */
  let organisationReads: number;

  beforeEach(async () => {
    reads = [];
    organisationReads = 0;
    directory = createCallerDirectory({
      query: ({ name }) => {
        if (name === 'caller-organisation') {
          organisationReads += 1;
          return Promise.resolve({ rowCount: 1, rows: [{ organisationId } as never] });
        }
        return new Promise((resolve) => {
          reads.push({
            answer: (permissions) =>
              resolve({ rowCount: null, rows: permissions === undefined ? [] : [row(permissions) as never] }),
          });
        });
      },
    });
    const first = directory.find(identity);
    await setImmediate();
    reads.pop()?.answer(undefined);
    await first;
  });

  test('reads the organisation of an account once [OPS-26]', async () => {
    for (const permissions of [['a'], ['b']]) {
      const found = directory.find(identity);
      await setImmediate();
      reads.at(-1)?.answer(permissions);
      await found;
    }
    assert.equal(organisationReads, 1);
  });

  test('reads for each call while changes are not heard of [ACC-17, SEC-21]', async () => {
    for (const permissions of [['a'], ['b']]) {
      const found = directory.find(identity);
      reads.at(-1)?.answer(permissions);
      assert.deepEqual([...((await found)?.caller.permissions ?? [])], permissions);
    }
    assert.equal(reads.length, 2);
    const together = [directory.find(identity), directory.find(identity)];
    assert.equal(
      reads.length,
      4,
      'a call may have begun after a change that the read of another did not see',
    );
    for (const { answer } of reads.slice(2)) answer(['c']);
    for (const entry of await Promise.all(together)) assert.equal(entry?.current, false);
  });

  test('reads once for calls together and after it, until a change is heard of [ACC-16]', async () => {
    directory.setListening(true);
    const together = [directory.find(identity), directory.find(identity)];
    reads[0]?.answer(['a']);
    const [entry] = await Promise.all(together);
    assert.equal(await directory.find(identity), entry);
    assert.equal(reads.length, 1);
    assert.equal(entry?.current, true);

    directory.onNotification(JSON.stringify({ organisationId }));
    assert.equal(entry?.current, false);
    const renewed = directory.find(identity);
    reads[1]?.answer(['b']);
    assert.deepEqual([...((await renewed)?.caller.permissions ?? [])], ['b']);
  });

  test('does not call current what was read while a change came in', async () => {
    directory.setListening(true);
    const found = directory.find(identity);
    directory.onNotification(JSON.stringify({ organisationId }));
    reads[0]?.answer(['as it was']);
    assert.equal((await found)?.current, false);
    void directory.find(identity);
    assert.equal(reads.length, 2, 'and does not keep it');
  });

  test('never joins a read that began before the last change', async () => {
    directory.setListening(true);
    void directory.find(identity);
    directory.onNotification(JSON.stringify({ organisationId, sessionId: identity.sessionId }));
    void directory.find(identity);
    assert.equal(reads.length, 2);
  });

  test('keeps callers of other organisations and sessions when a change is announced', async () => {
    directory.setListening(true);
    const found = directory.find(identity);
    reads[0]?.answer(['a']);
    const entry = await found;
    directory.onNotification(JSON.stringify({ organisationId: randomUUID() }));
    directory.onNotification(JSON.stringify({ organisationId, sessionId: randomUUID() }));
    assert.equal(entry?.current, true);
    assert.equal(await directory.find(identity), entry);
  });

  test('forgets everything when listening stops, starts, or a notification makes no sense', async () => {
    directory.setListening(true);
    const forgetting = [
      () => directory.setListening(true),
      () => directory.onNotification('not ours'),
      () => directory.onNotification('null'),
      () => directory.forget(),
    ];
    for (const forget of forgetting) {
      const found = directory.find(identity);
      reads.at(-1)?.answer(['a']);
      const entry = await found;
      forget();
      assert.equal(entry?.current, false);
    }
    assert.equal(reads.length, forgetting.length);
  });

  test('does not remember that a session was unknown, nor lends one to another account', async () => {
    directory.setListening(true);
    const unknown = directory.find(identity);
    reads[0]?.answer(undefined);
    assert.equal(await unknown, undefined);
    const known = directory.find(identity);
    reads[1]?.answer(['a']);
    assert.notEqual(await known, undefined);
    assert.equal(await directory.find({ ...identity, accountId: randomUUID() }), undefined);
  });
});

function row(permissions: string[]) {
  return {
    accountId: identity.accountId,
    organisationId,
    userType: 'EHR',
    mustChangePassword: false,
    requiresPasswordSetup: false,
    defaultFacilityId: null,
    permissions,
    facilities: null,
  };
}
