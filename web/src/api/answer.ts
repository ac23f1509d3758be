/** What calls answer, as openapi.json has it: `Answer<'/overview'>`, `Answer<'/accounts', 'post'>`, `Item<'/roles'>`. */
import type { paths } from './schema.d.ts';

interface Json<Body> {
  content: { 'application/json': Body };
}

/** The body where the call did what it was asked for. */
export type Answer<
  Path extends keyof paths,
  Method extends 'get' | 'post' = 'get',
> = paths[Path][Method] extends {
  responses: { 200: Json<infer Body> } | { 201: Json<infer Body> };
}
  ? Body
  : never;

/** One of a list. */
export type Item<Path extends keyof paths> = Answer<Path> extends { items: (infer One)[] } ? One : never;
