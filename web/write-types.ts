/** Writes the types of the service's routes, src/api/schema.d.ts, from openapi.json. Part of `npm run types`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import openapi, { astToString } from 'openapi-typescript';

const source = new URL('../openapi.json', import.meta.url);
const target = new URL('src/api/schema.d.ts', import.meta.url);
const text = `// biome-ignore-all lint: written by web/write-types.ts\n${astToString(await openapi(source))}`;
// An unchanged file keeps its time, and nothing is built again for it.
if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text);
