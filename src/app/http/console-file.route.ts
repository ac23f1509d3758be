/**
 * The page that a setup link opens, at /console/set-password. It is all of the console so far, and
 * needs nothing but what stands in `web/`.
 * Contract: SIGN-IN-47, SEC-29.
 */
import { readFileSync } from 'node:fs';
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';

const MEDIA_TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

/** Nothing inline, nothing from elsewhere, no frame, and no form that a browser would send by itself. */
const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

export function setPasswordPageRoute(extension: keyof typeof MEDIA_TYPES): Route<Access> {
  const text = readFileSync(new URL(`../../../web/set-password.${extension}`, import.meta.url), 'utf8');
  const contentType = MEDIA_TYPES[extension];
  return openRoute({
    docs: {
      operationId: `readSetPasswordPage${extension}`,
      summary: 'Show the page that a setup link opens',
      tag: 'Sign-in',
    },
    responses: {
      200: { description: 'A file of that page', schema: Type.String(), mediaType: contentType },
    },
    handle: async () => ({ body: text, contentType, headers: SECURITY_HEADERS }),
  });
}
