/** Serves with a demo organisation, made on first start (design section 5). */
import { serve } from '../serve.ts';

export async function runDemo(env: NodeJS.ProcessEnv): Promise<void> {
  await serve({ role: 'all', processes: 1, env });
}
