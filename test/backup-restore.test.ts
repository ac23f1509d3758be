/** Backup and restore of the embedded database, beside a service that works and processes that are killed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { restore } from '../src/app/backup/restore.ts';
import { loadConfig } from '../src/app/config/config.ts';
import { masterKeySource } from '../src/app/config/master-key.ts';
import { SILENT } from '../src/platform/command/progress-line.ts';
import { makeDataDir } from '../test-support/database/embedded.ts';
import { type Clinic, openClinic } from '../test-support/service/clinic-process.ts';
import { runCommand, startCommand } from '../test-support/service/command.ts';
import { idOf, ROTATE, verifyIsWhole } from '../test-support/sign-in/master-key.ts';
import { waitUntil } from '../test-support/wait-until.ts';

describe('backup and restore of the embedded database', { timeout: 1_800_000 }, () => {
  let data: Awaited<ReturnType<typeof makeDataDir>>;
  let clinic: Clinic;
  let folder: string;
  const at = (name: string) => join(folder, name);
  const run = (...args: string[]) => runCommand(args, { env: clinic.env });
  const sequences = () => clinic.exchange.arrivals.map(({ envelope }) => envelope.sequence);
  const names = async () => {
    const { items } = (await (await clinic.get('/patients/base?search=Version')).json()) as {
      items: { name: unknown }[];
    };
    return JSON.stringify(items);
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'interchange-backup-'));
    data = await makeDataDir();
    clinic = await openClinic({ DATA_DIR: data.path });
    await clinic.start();
    await clinic.useEverything();
  });
  after(async () => {
    await clinic.close();
    await data.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test('a killed backup leaves none, and the next to the same name is whole [OPS-34]', async () => {
    const killed = startCommand(['backup', '--to', at('first')], { env: clinic.env });
    await waitUntil(() => existsSync(at('first.unfinished/postgresql/base')), 'the backup copies');
    killed.child.kill('SIGKILL');
    await killed.ended;
    assert.equal(existsSync(at('first')), false);
    // What is written while it copies is in it: everything up to its end.
    let writing = true;
    const load = (async () => {
      while (writing)
        await Promise.all(Array.from({ length: 4 }, () => clinic.get('/patients/base?search=V')));
    })();
    await clinic.useEverything();
    const {
      folder: made,
      masterKeyIds,
      keyFile,
    } = JSON.parse(
      await clinic.command('backup', '--to', at('first'), '--write-key-file', at('key'), '--json'),
    );
    writing = false;
    await load;
    assert.deepEqual([made, keyFile], [at('first'), at('key')]);
    assert.deepEqual((await readdir(folder)).sort(), ['first', 'key']);
    assert.equal((await stat(at('first'))).mode & 0o777, 0o700);
    assert.deepEqual((await readdir(at('first'))).sort(), [
      'manifest.json',
      'postgresql',
      'postgresql.password',
    ]);
    const key = (await readFile(at('key'), 'utf8')).trim();
    assert.deepEqual([(await stat(at('key'))).mode & 0o777, masterKeyIds], [0o600, [idOf(key)]]);
    assert.match((await run('backup', '--to', at('first'))).stderr, /first exists, and was not changed/);
    const inside = await run('backup', '--to', at('second'), '--write-key-file', at('second/key'));
    assert.deepEqual([inside.code, existsSync(at('second'))], [2, false]);
  });

  test('a restore is refused, and a dry run is not, while the service runs; it is refused without --replace, with another key, and of a damaged backup [CMD-25]', async () => {
    const restore = async (...args: string[]) => {
      const { code, stdout, stderr } = await run('restore', '--from', at('first'), ...args);
      assert.equal(code, 1, stdout);
      return stderr;
    };
    assert.match(await restore('--replace'), /is in use\. Nothing was changed\. Stop the service/);
    const dryRun = ['restore', '--from', at('first'), '--dry-run'];
    const checked = await run(...dryRun);
    assert.equal(checked.code, 0, checked.stderr);
    assert.match(checked.stdout, /is complete and undamaged: .* needs --replace, and the service stopped\./s);
    assert.match(checked.stderr, /^Checking \d+ MB …\n$/);
    assert.equal((await run(...dryRun, '--json')).stderr, '');
    const state = await names();
    await clinic.stop();
    assert.match(await restore(), /There is a database in .* Nothing was changed\. .* --replace/);
    await writeFile(at('other'), '17'.repeat(32));
    assert.match(
      await restore('--replace', '--key-file', at('other')),
      new RegExp(
        `is key ${idOf('17'.repeat(32))}, but the backup needs master key [0-9a-f]{16}\\. Nothing was changed`,
      ),
    );
    await cp(at('first'), at('damaged'), { recursive: true });
    const damaged = async () => run('restore', '--from', at('damaged'), '--replace');
    await appendFile(at('damaged/postgresql/PG_VERSION'), ' ');
    assert.match(
      (await damaged()).stderr,
      /damaged: postgresql\/PG_VERSION is missing or was changed\. Nothing/,
    );
    await rm(at('damaged/postgresql/PG_VERSION'));
    assert.match((await damaged()).stderr, /damaged: postgresql\/PG_VERSION is missing or was changed/);
    const manifest = await readFile(at('damaged/manifest.json'), 'utf8');
    await writeFile(at('damaged/manifest.json'), manifest.replace(/takenAt":"\d/, 'takenAt":"3'));
    assert.match((await damaged()).stderr, /damaged: manifest\.json/);
    await rm(at('damaged/manifest.json'));
    assert.match((await damaged()).stderr, /is not a complete backup/);
    assert.deepEqual(
      (await readdir(data.path)).filter((name) => name.startsWith('restore')),
      [],
    );
    await clinic.start();
    assert.equal(await names(), state);
  });

  test('after a restore everything up to the backup is there, and what goes out is numbered higher [CMD-25, EXC-54, LOG-16]', async () => {
    const state = await names();
    const backedUp = sequences().length;
    await clinic.useEverything();
    await clinic.useEverything();
    assert.equal(sequences().length, backedUp + 2);
    assert.notEqual(await names(), state);
    await writeFile(at('heads.json'), await clinic.command('access-log', 'verify', '--json'));
    await clinic.stop();
    await writeFile(at('service.log'), clinic.logs());

    const args = ['restore', '--from', at('first'), '--replace'];
    assert.match(
      await clinic.command(...args, '--dry-run'),
      /is complete and undamaged: .*would be kept in .*before-restore-/s,
    );
    const killed = startCommand(args, { env: clinic.env });
    await waitUntil(
      async () => (await readdir(data.path)).some((name) => name.startsWith('restore.stage')),
      'it copies',
    );
    killed.child.kill('SIGKILL');
    await killed.ended;
    await clinic.command('organisation', 'list');
    const { before: kept, mark, takenAt } = JSON.parse(await clinic.command(...args, '--json'));
    assert.ok(existsSync(join(kept, 'postgresql')) && existsSync(join(kept, 'postgresql.password')));
    assert.deepEqual(
      (await readdir(data.path)).filter((name) => name.startsWith('restore')),
      [],
    );

    await clinic.start();
    assert.equal(await names(), state, 'as it was when the backup was made');
    await clinic.useEverything();
    const [last = 0, ...earlier] = sequences().toReversed();
    assert.ok(last > mark.sequenceFloor && earlier.every((sequence) => sequence < last), sequences().join());
    await verifyIsWhole(clinic);
    for (const heads of ['heads.json', 'service.log']) {
      const { code, stdout } = await run('access-log', 'verify', '--heads', at(heads));
      assert.equal(code, 1);
      assert.match(
        stdout,
        /^The database was put back to an older state by a restore, .*Nothing else was changed/s,
      );
      assert.ok(
        stdout.includes(
          `the restore of ${mark.restoredAt} put the database back to the backup of ${takenAt}`,
        ),
      );
    }
    const { stdout } = await run('access-log', 'verify');
    assert.match(stdout, /^The access log is whole: .*\nThe operator put the database back to the backup of/);
  });

  test('a backup goes to another folder with its key, and an older one again over that [CMD-25, EXC-54]', async () => {
    await clinic.stop();
    const elsewhere = await makeDataDir();
    const { env } = clinic;
    const highest = Math.max(...sequences());
    try {
      clinic.env = { ...env, DATA_DIR: elsewhere.path };
      assert.match((await run('backup', '--to', at('none'))).stderr, /There is no database in/);
      assert.match(
        (await run('restore', '--from', at('first'))).stderr,
        /There is no master key in .* --key-file/,
      );
      assert.equal(existsSync(elsewhere.path), false);
      await clinic.command('restore', '--from', at('first'), '--key-file', at('key'), '--dry-run');
      assert.equal(existsSync(elsewhere.path), false);
      await clinic.command('restore', '--from', at('first'), '--key-file', at('key'));
      await clinic.start();
      await clinic.useEverything();
      assert.ok((sequences().at(-1) ?? 0) > highest);
      await verifyIsWhole(clinic);
      await clinic.stop();
      await restoreIntoTheWay(elsewhere.path);
    } finally {
      clinic.env = env;
      await elsewhere.remove();
    }
  });

  test('a rotation of the master key while a backup copies leaves it with the key that opens it [OPS-34]', async () => {
    const args = ['backup', '--to', at('rotated'), '--write-key-file', at('rotated.key'), '--json'];
    const backup = startCommand(args, { env: clinic.env });
    await waitUntil(() => existsSync(at('rotated.unfinished/postgresql/base')), 'the backup copies');
    backup.child.kill('SIGSTOP');
    await clinic.command(...ROTATE);
    backup.child.kill('SIGCONT');
    const { code, stdout, stderr } = await backup.ended;
    assert.equal(code, 0, stderr);
    const key = (await readFile(at('rotated.key'), 'utf8')).trim();
    assert.deepEqual(JSON.parse(stdout).masterKeyIds, [idOf(key)]);
  });

  /** The folder for what is replaced cannot be made. What was prepared stays, and goes to its place later. */
  async function restoreIntoTheWay(dataDir: string): Promise<void> {
    const made = JSON.parse(await clinic.command('organisation', 'create', '--name', 'Later', '--json'));
    const now = new Date();
    const obstacle = join(dataDir, `before-restore-${now.toISOString().replaceAll(/[:.]/g, '-')}`);
    await writeFile(obstacle, '');
    const masterKey = masterKeySource(loadConfig({ DATA_DIR: dataDir }));
    const options = {
      dataDir,
      from: at('first'),
      masterKey,
      keepKey: false,
      replace: true,
      dryRun: false,
      now,
    };
    await assert.rejects(
      restore({ ...options, progress: SILENT }),
      /could not finish \(EEXIST.*\)\. Both databases are kept/,
    );
    await rm(obstacle);
    assert.ok(!(await clinic.command('organisation', 'list')).includes(made.id));
    assert.ok(existsSync(join(obstacle, 'postgresql/PG_VERSION')));
  }
});
