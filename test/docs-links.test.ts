/** Every link between the pages of this repository leads to a file, and to a heading or an anchor in it. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });

test('links of the documentation lead somewhere', () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of PAGES) {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links += 1;
      if (!leadsSomewhere(page, target)) broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(links > 50, 'the pages are read');
});

test('the two indexes name every page, decisions by their titles', () => {
  const index = readFileSync(join(ROOT, 'docs/README.md'), 'utf8');
  const pages = globSync('docs/*', { cwd: ROOT }).filter((path) => /\.(md|json)$/.test(path));
  const missing = pages.map((path) => basename(path)).filter((name) => !index.includes(`(${name}`));
  assert.deepEqual(missing, ['README.md'], 'docs/README.md lacks these');
  const decisions = readFileSync(join(ROOT, 'docs/adr/README.md'), 'utf8');
  for (const path of globSync('docs/adr/[0-9]*.md', { cwd: ROOT })) {
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
    const line = `| [${title}](${basename(path)}) |`;
    assert.equal(decisions.split(line).length, 2, `docs/adr/README.md has one row that begins with: ${line}`);
  }
});

test('files and folders that pages name are there', () => {
  const missing: string[] = [];
  let named = 0;
  for (const page of PAGES) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    for (const [, path = ''] of text.matchAll(
      /`((?:src|tools|local-postgres|test|test-support|scripts|bench|soak|demo|deploy|docs|migrations)\/[\w./*-]+)`/g,
    )) {
      named += 1;
      if (globSync(path, { cwd: ROOT }).length === 0) missing.push(`${page}: ${path}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(named > 100, 'the pages are read');
});

test('ARCHITECTURE.md names every room', () => {
  const rows = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').split('\n');
  const rooms = globSync('{src/**,test-support/*}/', { cwd: ROOT }).map((path) => path.split(sep).join('/'));
  const isBelow = (path: string) => /^(src\/[^/]+|test-support)\/./.test(path);
  const missing = rooms.filter(isBelow).filter((path) => {
    const [, area, room] = /^(src\/[^/]+|test-support)\/(.+)$/.exec(path) ?? [];
    const row = rows.find((line) => line.startsWith('|') && line.split('|')[1]?.includes(`\`${area}\``));
    return row?.includes(`\`${basename(room ?? '')}/\``) !== true;
  });
  assert.deepEqual(missing, []);
  assert.ok(rooms.length > 50, 'the rooms are found');
});

test('a file that ARCHITECTURE.md names without its folder is in the folder that it named last', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const [, walks = ''] = text.split('## A request, from the outside in');
  let folder = '';
  const elsewhere: string[] = [];
  for (const [, file = ''] of walks.matchAll(/`([\w./-]+\.ts)`/g)) {
    if (file.includes('/')) folder = dirname(file);
    else if (!existsSync(join(ROOT, folder, file))) elsewhere.push(`${file} is not in ${folder}`);
  }
  assert.deepEqual(elsewhere, []);
});

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : relative('', join(dirname(page), path));
  if (!existsSync(join(ROOT, file))) return false;
  return anchor === undefined || anchorsOf(file).includes(anchor);
}

/** As GitHub makes them of headings, and those that are written out. */
function anchorsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}
