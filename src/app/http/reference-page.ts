/** The reference page at {base_url}/docs, which shows the OpenAPI document. Contract: HTTP-27. */
import fastifySwaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

/** Nothing from elsewhere, and no upgrade to https, which a service on a plain address does not have. */
const REFERENCE_PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  // The hash is of the one style element that the page's bundle makes.
  'style-src': "'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

const SVG = 'image/svg+xml';
/** The name of the product, and an icon, where the page would show the mark of its maker. */
const LOGO = svg(170, '<text y="28" font-family="sans-serif" font-size="28" fill="#fff">interchange</text>');
const ICON = svg(
  40,
  '<rect width="40" height="40" rx="8" fill="#1b1b1b"/><path d="M8 15h20l-6-6M32 25H12l6 6" stroke="#fff" stroke-width="4" fill="none"/>',
);

/**
 * Its files would otherwise say that they may be cached. `publicPath` is that of the base address as browsers see it,
 * which a proxy may have put a prefix before. `describe` makes the document that it shows.
 */
export function referencePage(
  publicPath: string,
  describe: () => unknown,
): (scope: FastifyInstance) => Promise<void> {
  return async (scope) => {
    scope.addHook('onRequest', async () => void describe());
    scope.addHook('onSend', async (_request, reply) => {
      reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    });
    await scope.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      indexPrefix: publicPath,
      staticCSP: REFERENCE_PAGE_POLICY,
      logo: { type: SVG, content: LOGO },
      theme: {
        title: 'interchange API',
        favicon: [{ filename: 'icon.svg', rel: 'icon', type: SVG, sizes: 'any', content: ICON }],
      },
    });
  };
}

function svg(width: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="40">${content}</svg>`;
}
