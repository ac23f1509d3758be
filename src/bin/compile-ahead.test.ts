/** What npm ci compiles, so that no process of the service has to. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestApi } from '../../test-support/service/api.ts';
import { startCommand } from '../../test-support/service/command.ts';

const PROGRAM = join(import.meta.dirname, 'compile-ahead.js');
const LAUNCHER = join(import.meta.dirname, 'launch.js');
/** Node.js names what it has loaded of its own; amaro is its compiler of TypeScript. */
const TELL_OF_COMPILER = `--import=data:text/javascript,process.on('exit',()=>process.moduleLoadList.some((name)=>/amaro/.test(name))&&console.error('compiled'))`;

test('a service that was compiled ahead starts without the compiler of TypeScript', async (t) => {
  const cache = await mkdtemp(join(tmpdir(), 'compiled-'));
  t.after(() => rm(cache, { recursive: true }));
  const api = await startTestApi();
  t.after(() => api.close());
  const serve = async () => {
    const service = startCommand(['serve'], {
      entry: LAUNCHER,
      env: { ...api.env, PORT: '0', NODE_COMPILE_CACHE: cache, NODE_OPTIONS: TELL_OF_COMPILER },
    });
    const [line = ''] = await service.printed(/.*"event":"listening".*/);
    await fetch(`http://127.0.0.1:${JSON.parse(line).port}/api/v1/encounters/fhir/metadata`);
    service.child.kill('SIGTERM');
    const { code, stderr } = await service.ended;
    assert.equal(code, 0, stderr);
    return stderr;
  };

  execFileSync(process.execPath, [PROGRAM], { env: { ...process.env, NODE_COMPILE_CACHE: cache } });
  assert.equal(await serve(), '');
  await rm(cache, { recursive: true });
  assert.equal(await serve(), 'compiled\n');
});
