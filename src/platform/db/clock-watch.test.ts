/** The clock of a process beside that of the database, whose time is named here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { type ClockWatch, watchClock } from './clock-watch.ts';

const DATABASE_NOW = new Date('2026-11-21T12:00:00Z');
const MAX_SKEW_SECONDS = 30;

const database = await useTestDatabase();

const ahead = (seconds: number) => new Date(DATABASE_NOW.getTime() + seconds * 1_000);

/** A watch of a clock that shows these times, the last one for ever; and what it told so far. */
async function watch(times: Date[]): Promise<ClockWatch & { told: boolean[] }> {
  const told: boolean[] = [];
  const watched = await watchClock({
    db: database.pool,
    now: () => (times.length > 1 ? times.shift() : times[0]) as Date,
    databaseTime: () => DATABASE_NOW,
    maxSkewSeconds: MAX_SKEW_SECONDS,
    onChange: ({ isOff }) => told.push(isOff()),
  });
  watched.close();
  return { ...watched, told };
}

for (const [seconds, isOff] of [
  [31, true],
  [-31, true],
  [30, false],
  [-30, false],
] as const)
  test(`a clock that is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'} is ${isOff ? 'off' : 'right'} from the start [OPS-20]`, async () => {
    const clock = await watch([ahead(seconds)]);
    assert.deepEqual([clock.isOff(), clock.aheadSeconds()], [isOff, seconds]);
    assert.deepEqual(clock.told, isOff ? [true] : []);
  });

test('each change is told once', async () => {
  const clock = await watch([ahead(0)]);
  const times = [ahead(40), ahead(40), ahead(0), ahead(0)];
  const moved = await watch([ahead(0), ahead(0), ...times.flatMap((time) => [time, time])]);
  for (const _ of times) await moved.compare();
  assert.deepEqual([clock.told, moved.told], [[], [true, false]]);
});

test('an answer that was long on its way does not make a clock wrong that may be right', async () => {
  const slow = await watch([ahead(0), ahead(100)]);
  assert.equal(slow.isOff(), false, 'the database may have looked at its clock at once');
  const late = await watch([ahead(-100), ahead(0)]);
  assert.equal(late.isOff(), false, 'or at the end');
});

test('the clock is compared again every ten seconds [OPS-20]', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = ahead(0);
  const clock = await watchClock({
    db: database.pool,
    now: () => now,
    databaseTime: () => DATABASE_NOW,
    maxSkewSeconds: MAX_SKEW_SECONDS,
    onChange: () => undefined,
  });
  now = ahead(40);
  t.mock.timers.tick(9_999);
  await database.pool.query('select 1');
  assert.equal(clock.isOff(), false);
  t.mock.timers.tick(1);
  await waitUntil(() => clock.isOff(), 'the clock is found to be off');
  clock.close();
});
