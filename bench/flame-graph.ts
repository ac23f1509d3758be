/** Draws a processor profile of V8 (`node --cpu-prof`) as a flame graph: callers above what they call, width is time. */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string };
    children?: number[];
  }[];
  /** Microseconds of the clock that does not go back (CLOCK_MONOTONIC). */
  startTime: number;
  /** The node that ran at each look, and microseconds between the looks. */
  samples: number[];
  timeDeltas: number[];
}

interface Frame {
  name: string;
  place: string;
  us: number;
  callees: Map<string, Frame>;
}

const WIDTH = 1_200;
const ROW = 16;
const HEAD = 44;
/** Narrower frames are left out, with all that they call. */
const LEAST_WIDTH = 2;
const LETTER_WIDTH = 6.2;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Node.js waits, or was not seen to run JavaScript. */
const NOT_WORK: ReadonlySet<string> = new Set(['(idle)', '(program)']);

const KINDS = [
  {
    name: 'interchange',
    colour: '#f2a65a',
    has: (place: string) => /^(?:src|local-postgres|tools)\//.test(place),
  },
  { name: 'libraries', colour: '#8fb8de', has: (place: string) => place.startsWith('node_modules/') },
  { name: 'Node.js', colour: '#c9cfd6', has: (place: string) => place !== 'garbage collection' },
  { name: 'garbage collection', colour: '#e07a7a', has: () => true },
];

/** An SVG document without scripts. What ran before `fromUs`, of the clock of the profile, is left out. */
export function flameGraph(
  profile: CpuProfile,
  { title, fromUs = 0 }: { title: string; fromUs?: number },
): string {
  const all = framesOf(profile, fromUs);
  const rows = depthOf(all, all.us) + 1;
  const height = HEAD + rows * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="4" y="16" font-size="13">${escaped(title)}</text>`,
    ...KINDS.map(
      ({ name, colour }, index) =>
        `<rect x="${4 + index * 150}" y="24" width="10" height="10" fill="${colour}"/><text x="${18 + index * 150}" y="33">${name}</text>`,
    ),
    ...drawn(all, { x: 0, y: HEAD, whole: all.us }),
    '</svg>',
    '',
  ].join('\n');
}

/** The frames of all samples under one; a function that is called twice in one place is one frame. */
function framesOf({ nodes, samples, timeDeltas, startTime }: CpuProfile, fromUs: number): Frame {
  const ownUs = new Map<number, number>();
  let atUs = startTime;
  for (const [index, id] of samples.entries()) {
    const deltaUs = timeDeltas[index] ?? 0;
    atUs += deltaUs;
    if (atUs >= fromUs) ownUs.set(id, (ownUs.get(id) ?? 0) + deltaUs);
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const all: Frame = { name: 'all', place: '', us: 0, callees: new Map() };
  const add = (id: number, into: Frame): number => {
    const node = byId.get(id);
    if (node === undefined || NOT_WORK.has(node.callFrame.functionName)) return 0;
    const frame = frameIn(into, node.callFrame);
    const us = (node.children ?? []).reduce((sum, child) => sum + add(child, frame), ownUs.get(id) ?? 0);
    frame.us += us;
    return us;
  };
  for (const child of nodes[0]?.children ?? []) all.us += add(child, all);
  return all;
}

function frameIn({ callees }: Frame, { functionName, url }: CpuProfile['nodes'][number]['callFrame']): Frame {
  const isGarbage = functionName === '(garbage collector)';
  const place = isGarbage ? 'garbage collection' : placeOf(url);
  const name = isGarbage ? place : functionName || `(${basename(place) || 'native'})`;
  const key = `${name} ${place}`;
  const frame = callees.get(key) ?? { name, place, us: 0, callees: new Map() };
  callees.set(key, frame);
  return frame;
}

/** Seen from the root of the project. Native functions have none. */
function placeOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url).replace(ROOT, '') : url;
}

function widthOf({ us }: Frame, whole: number): number {
  return whole === 0 ? 0 : (us / whole) * WIDTH;
}

function depthOf(frame: Frame, whole: number): number {
  const below = [...frame.callees.values()].filter((callee) => widthOf(callee, whole) >= LEAST_WIDTH);
  return 1 + Math.max(0, ...below.map((callee) => depthOf(callee, whole)));
}

function drawn(frame: Frame, { x, y, whole }: { x: number; y: number; whole: number }): string[] {
  const width = widthOf(frame, whole);
  if (width < LEAST_WIDTH) return [];
  const share = `${((100 * frame.us) / whole).toFixed(1)}%`;
  const colour = KINDS.find(({ has }) => has(frame.place))?.colour;
  const letters = Math.floor((width - 4) / LETTER_WIDTH);
  const label = letters < 3 ? '' : escaped(frame.name.slice(0, letters));
  const at = (value: number) => value.toFixed(1);
  let calleeX = x;
  const callees = [...frame.callees.values()]
    .toSorted((a, b) => b.us - a.us)
    .flatMap((callee) => {
      const lines = drawn(callee, { x: calleeX, y: y + ROW, whole });
      calleeX += widthOf(callee, whole);
      return lines;
    });
  return [
    `<g><title>${escaped(titleOf(frame))}, ${share}</title><rect x="${at(x)}" y="${y}" width="${at(width)}" height="${ROW - 1}" fill="${colour}" stroke="#fff" stroke-width="0.5"/>${label === '' ? '' : `<text x="${at(x + 2)}" y="${y + 11}">${label}</text>`}</g>`,
    ...callees,
  ];
}

function titleOf({ name, place }: Frame): string {
  return place === '' || place === name ? name : `${name} ${place}`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
