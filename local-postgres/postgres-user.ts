/**
 * The user that the embedded PostgreSQL runs as. PostgreSQL refuses root, so root starts it as an unprivileged user.
 * Where no such user can reach the files (a checkout in a 0700 folder), root starts it in a user namespace, in which
 * root's files belong to an unprivileged id (docs/adr/0002).
 * Contract: OPS-9.
 */
import { spawn } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';
import { EmbeddedPostgresError } from './postgres-binaries.ts';

export interface FolderOwner {
  uid: number;
  gid: number;
}

export interface Finished {
  code: number | null;
  /** Standard output and standard error together. */
  output: string;
}

export interface PostgresUser {
  /** Whom the data files must belong to; nothing where the platform has no such owner. */
  owner: FolderOwner | undefined;
  run(program: string, args: readonly string[]): Promise<Finished>;
}

const NAMESPACE = ['--user', '--map-user=65534', '--map-group=65534'];

/** The user for the server of `clusterDir` inside `dataDir`. `clusterDir` need not exist yet. */
export async function choosePostgresUser(
  postgres: string,
  dataDir: string,
  clusterDir: string,
): Promise<PostgresUser> {
  const uid = process.getuid?.();
  if (uid !== 0) return ordinaryUser(uid);
  for (const owner of await unprivilegedOwners(dataDir, clusterDir)) {
    const user = otherUser(owner);
    if (await reaches(user, postgres, dataDir)) return user;
  }
  const user = namespaceUser();
  if (await reaches(user, postgres, dataDir)) return user;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and no ordinary user can reach both ${postgres} and ${dataDir}. Run the command as an ordinary user, move both to folders that other users may enter, or set DATABASE_URL.`,
  );
}

function ordinaryUser(uid: number | undefined): PostgresUser {
  const owner = uid === undefined ? undefined : { uid, gid: process.getgid?.() ?? uid };
  return { owner, run: (program, args) => run(program, args) };
}

function otherUser(owner: FolderOwner): PostgresUser {
  return { owner, run: (program, args) => run(program, args, owner) };
}

function namespaceUser(): PostgresUser {
  return {
    owner: { uid: 0, gid: 0 },
    run: (program, args) => run('unshare', [...NAMESPACE, program, ...args]),
  };
}

/** Who owns the data already comes first, so that a command of root changes nothing for that user. */
async function unprivilegedOwners(dataDir: string, clusterDir: string): Promise<FolderOwner[]> {
  const found = [
    await ownerOf(clusterDir),
    await ownerOf(dataDir),
    await idOf('postgres'),
    await idOf('nobody'),
  ];
  const owners = new Map<number, FolderOwner>();
  for (const owner of found)
    if (owner !== undefined && owner.uid !== 0 && !owners.has(owner.uid)) owners.set(owner.uid, owner);
  return [...owners.values()];
}

export async function ownerOf(path: string): Promise<FolderOwner | undefined> {
  return stat(path).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => undefined,
  );
}

/** Root may work in another user's folder; what it makes there belongs to that user. */
export async function handToOwnerOf(folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await ownerOf(folder);
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
}

async function idOf(name: string): Promise<FolderOwner | undefined> {
  const [uid, gid] = [await run('id', ['-u', name]), await run('id', ['-g', name])];
  if (uid.code !== 0 || gid.code !== 0) return undefined;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}

async function reaches(user: PostgresUser, postgres: string, dataDir: string): Promise<boolean> {
  const look = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dataDir, postgres];
  // In a user namespace that has no other users, a program cannot even be started as one of them.
  return user.run('/bin/sh', look).then(
    ({ code }) => code === 0,
    () => false,
  );
}

/** What the server needs of the environment and no more: secrets of the service stay out. */
const KEPT_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'LD_LIBRARY_PATH', 'SYSTEMROOT'];

/** `LC_ALL` keeps messages in English, because postgres-server.ts reads them. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => KEPT_VARIABLES.includes(name.toUpperCase()));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

function run(program: string, args: readonly string[], owner?: FolderOwner): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...owner,
      cwd: '/',
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}
