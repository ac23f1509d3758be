import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { findFiles } from './find-sources.ts';
import { ByteBudget, DEFAULT_LIMITS, fileLimits, sizeText } from './limits.ts';
import { openFile, openStream } from './open-source.ts';
import { decodeUtf8, detectLayout, readDocument, readLines } from './read-entries.ts';
import { NoSpaceError } from './source-error.ts';
import { memorySpool, type Spool } from './spool.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'interchange-sources-'));
after(() => rm(folder, { recursive: true }));

const text = async (spool: Spool): Promise<string> => {
  try {
    return (await spool.read(0, spool.sizeBytes)).toString();
  } finally {
    await spool.close();
  }
};
const layoutOf = async (document: string) => (await detectLayout(memorySpool(Buffer.from(document)))).kind;

async function file(name: string, content: string | Buffer): Promise<string> {
  const full = path.join(folder, name);
  await writeFile(full, content);
  return full;
}

test('one document or one on each line is told by content', async () => {
  const resource = { resourceType: 'Patient', id: '1', name: [{ family: 'A' }] };
  const line = JSON.stringify(resource);
  assert.equal(await layoutOf(line), 'document');
  assert.equal(await layoutOf(`${line}\n`), 'document');
  assert.equal(await layoutOf(JSON.stringify(resource, null, 2)), 'document');
  assert.equal(await layoutOf(`\n\n${line}\r\n${line}`), 'lines');
  assert.equal(await layoutOf(`{"resourceType":"Patient"\n${line}`), 'lines');
  assert.equal(await layoutOf('{"a":[\n{"b":1},\n{"c":2}]}'), 'document');
  assert.equal(await layoutOf('{"a":\n{"b":1}}'), 'document');
  assert.equal(await layoutOf(''), 'document');
  assert.equal(await layoutOf(`${line}\nno JSON\n${line}`), 'lines');
  assert.equal(await layoutOf(`\n ${line} \n[]`), 'lines');
  assert.equal(await layoutOf('{"a":{}\n}'), 'document');
  assert.equal(await layoutOf('{}{}\n}'), 'document');
});

test('no JSON document in one piece, however it is broken into lines, is taken for NDJSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.object({ maxDepth: 4 }),
      fc.constantFrom(undefined, 1, 2, '\t'),
      async (value, space) => assert.equal(await layoutOf(JSON.stringify(value, null, space)), 'document'),
    ),
  );
});

test('entries and lines are read where they stand, a byte order mark passed over', async () => {
  const mark = Buffer.from([0xef, 0xbb, 0xbf]);
  const spool = memorySpool(
    Buffer.concat([mark, Buffer.from('{"entry":[{"a":"é"}, {"b":2}],"type":"batch"}')]),
  );
  const { start } = await detectLayout(spool);
  assert.equal(start, 3);
  const seen: [number, string][] = [];
  const rest = await readDocument(
    spool,
    { start, end: spool.sizeBytes },
    DEFAULT_LIMITS,
    ({ number }, bytes) => {
      seen.push([number, decodeUtf8(bytes)]);
    },
  );
  assert.deepEqual(seen, [
    [1, '{"a":"é"}'],
    [2, '{"b":2}'],
  ]);
  assert.equal(rest, '{"entry":[],"type":"batch"}');

  const lines: [number, string | undefined][] = [];
  const limits = { ...DEFAULT_LIMITS, maxEntryBytes: 8 };
  await readLines(
    memorySpool(Buffer.from('{"a":1}\n\n  \n{"too":"long"}\n{}')),
    { start: 0, before: 0 },
    limits,
    ({ number }, bytes) => {
      lines.push([number, bytes?.toString()]);
    },
  );
  assert.deepEqual(lines, [
    [1, '{"a":1}'],
    [4, undefined],
    [5, '{}'],
  ]);
});

test('gzip is told by its first bytes, in files and streams, in one member or several [IN-3]', async () => {
  const content = 'x'.repeat(100_000);
  const zipped = gzipSync(content);
  for (const name of ['a.json', 'a.gz']) {
    assert.equal(await text(await openFile(await file(name, content), DEFAULT_LIMITS)), content);
    assert.equal(await text(await openFile(await file(name, zipped), DEFAULT_LIMITS)), content);
  }
  const two = Buffer.concat([zipped, gzipSync('yz')]);
  assert.equal(await text(await openStream(Readable.from([two]), DEFAULT_LIMITS)), `${content}yz`);
  const byteByByte = Readable.from([...gzipSync('abc')].map((byte) => Buffer.from([byte])));
  assert.equal(await text(await openStream(byteByByte, DEFAULT_LIMITS)), 'abc');
  assert.equal(await text(await openStream(Readable.from([]), DEFAULT_LIMITS)), '');
});

test('broken gzip, decompression bombs and large files are refused [IN-4]', async () => {
  const zipped = gzipSync('x'.repeat(100_000));
  const cut = await file('cut.gz', zipped.subarray(0, zipped.length - 9));
  await assert.rejects(openFile(cut, DEFAULT_LIMITS), /is gzip that breaks off/);
  const damaged = Buffer.from(zipped);
  damaged.writeUInt8(damaged.readUInt8(20) ^ 0xff, 20);
  await assert.rejects(
    openStream(Readable.from([damaged]), DEFAULT_LIMITS),
    /is broken gzip\. Copy or download it again/,
  );
  const limits = { ...DEFAULT_LIMITS, maxSourceBytes: 4_000_000 };
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  assert.ok(bomb.length < 100_000);
  await assert.rejects(openStream(Readable.from([bomb]), limits), /more than 10 MiB of content|more than/);
  const large = await file('large.json', Buffer.alloc(1_000));
  await assert.rejects(openFile(large, { ...limits, maxSourceBytes: 999 }), /more than 999 bytes of content/);
  await assert.rejects(openFile(path.join(folder, 'none.json'), limits), /cannot be opened \(ENOENT\)/);
});

test('what does not fit into memory is spooled to a file that is gone at the end [IN-4]', async () => {
  const before = (await readdir(tmpdir())).filter((name) => name.startsWith('interchange-import-'));
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  const limits = { ...DEFAULT_LIMITS, maxMemoryBytes: 1_000 };
  const spool = await openStream(Readable.from([gzipSync(content)]), limits);
  assert.equal(spool.inMemory, false);
  assert.deepEqual(await spool.read(0, content.length), content);
  assert.deepEqual(await spool.read(299_990, 300_000), content.subarray(299_990));
  assert.deepEqual(await spool.read(10, 20), content.subarray(10, 20));
  await spool.close();
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith('interchange-import-'));
  assert.deepEqual(
    left.filter((name) => !before.includes(name)),
    [],
  );
});

test('a source that is refused leaves no file and gives its room back', async () => {
  const disk = new ByteBudget(5_000);
  const limits = { ...DEFAULT_LIMITS, maxMemoryBytes: 1_000, maxSourceBytes: 10_000, disk };
  const chunks = (count: number) => Readable.from(Array.from({ length: count }, () => Buffer.alloc(1_500)));
  const held = await openStream(chunks(2), limits);
  const open = await openFiles();
  await assert.rejects(openStream(chunks(2), limits), (error) => {
    assert.ok(error instanceof NoSpaceError);
    assert.match(error.message, /more disk space.*TMPDIR.*import it again/);
    return true;
  });
  await assert.rejects(openStream(chunks(9), { ...limits, disk: new ByteBudget(20_000) }), /more than/);
  const broken = new Readable({ read: () => undefined });
  broken.push(Buffer.alloc(1_500));
  queueMicrotask(() => broken.destroy(new Error('gone')));
  await assert.rejects(openStream(broken, limits), /gone/);
  assert.equal(await openFiles(), open);
  await held.close();
  await (await openStream(chunks(3), limits)).close();
});

test('sources in memory count together: one that has no room there goes to a file, and gives its room back', async () => {
  const memory = new ByteBudget(3_000);
  const limits = { ...DEFAULT_LIMITS, maxMemoryBytes: 2_000, memory };
  const chunks = (count: number) => Readable.from(Array.from({ length: count }, () => Buffer.alloc(1_000)));
  const open = async () => [await openStream(chunks(2), limits), await openStream(chunks(2), limits)];
  for (let round = 0; round < 2; round += 1) {
    const spools = await open();
    assert.deepEqual(
      spools.map(({ inMemory }) => inMemory),
      [true, false],
    );
    for (const spool of spools) await spool.close();
  }
  await assert.rejects(openStream(chunks(9), { ...limits, maxSourceBytes: 1_500 }), /more than/);
  await (await openStream(chunks(3), limits)).close();
  assert.ok(memory.take(3_000));
});

/** Descriptors of this process that are temporary files of the import; none where the system does not tell. */
async function openFiles(): Promise<number> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd').catch(() => [])).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ''),
    ),
  );
  return targets.filter((target) => target.includes('interchange-import-')).length;
}

test('files that are imported at the same time hold as many lines in memory as one alone [IN-4]', () => {
  assert.equal(4 * fileLimits(4).linesAtOnce, fileLimits(1).linesAtOnce);
});

test('folders are walked sorted, with what looks like FHIR; missing paths are named [IN-3, IN-31]', async () => {
  const root = await mkdtemp(path.join(folder, 'walk-'));
  const made: [string, string | Buffer][] = [
    ['b.json', '{}'],
    ['0-first.json.gz', gzipSync('{}')],
    ['README.md', '# notes'],
    ['noname', ' {"resourceType":"Patient"}'],
    ['zipped', gzipSync('{}')],
    ['.hidden.json', '{}'],
  ];
  for (const [name, content] of made) await writeFile(path.join(root, name), content);
  const found = await findFiles([path.join(root, 'gone'), root, path.join(root, 'README.md')]);
  assert.deepEqual(
    found.files.map(({ path: name }) => path.relative(root, name)),
    ['0-first.json.gz', 'b.json', 'noname', 'zipped', 'README.md'],
  );
  assert.equal(found.otherFiles, 1);
  assert.deepEqual(found.missing, [
    { path: path.join(root, 'gone'), reason: 'there is no such file or folder' },
  ]);
});

test('a folder with nothing to import is named, with what is there instead [IN-31]', async () => {
  const root = await mkdtemp(path.join(folder, 'nothing-'));
  const reasonOf = async () => (await findFiles([root])).missing;
  assert.deepEqual(await reasonOf(), [{ path: root, reason: 'the folder has no file' }]);
  await mkdir(path.join(root, 'below'));
  for (const [name, others] of [
    ['scan.pdf', 'only 1 other'],
    ['below/notes.txt', 'only 2 others'],
  ] as const) {
    await writeFile(path.join(root, name), '%');
    const reason = `the folder has no file that begins like JSON or gzip, ${others}`;
    assert.deepEqual(await reasonOf(), [{ path: root, reason }]);
  }
  await writeFile(path.join(root, 'below', 'a.json'), '{}');
  assert.deepEqual(await reasonOf(), []);
});

test('sizes are written for people', () => {
  assert.deepEqual([999, 16_777_216, 4_294_967_296].map(sizeText), ['999 bytes', '16 MiB', '4 GiB']);
});

/** How often the event loop turns during work that waits for nothing outside this process. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let [turns, done] = [0, false];
  const count = () => {
    if (done) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work;
  done = true;
  return turns;
}

test('other work of the process goes on while lines and entries are read [IN-30]', async () => {
  const resource = '{"resourceType":"Basic"}';
  const many = Array.from({ length: 50_000 }, () => resource);
  const lines = memorySpool(Buffer.from(many.join('\n')));
  assert.ok((await turnsDuring(detectLayout(memorySpool(Buffer.from('\n'.repeat(4_000_000)))))) > 0);
  const take = (_: unknown, bytes: Buffer | undefined) => void JSON.parse(String(bytes)) as undefined;
  const everything = { ...DEFAULT_LIMITS, linesAtOnce: many.length };
  assert.ok((await turnsDuring(readLines(lines, { start: 0, before: 0 }, everything, take))) > 0);
  const bundle = memorySpool(Buffer.from(`{"resourceType":"Bundle","entry":[${many.join()}]}`));
  const range = { start: 0, end: bundle.sizeBytes };
  assert.ok((await turnsDuring(readDocument(bundle, range, everything, take))) > 0);
});
