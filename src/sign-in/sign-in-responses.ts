/** Error answers that the routes of sign-in share, for the OpenAPI document, which gives each the one error shape. */

const failure = (description: string) => ({ description });

export const badBody = { 400: failure('The body is not JSON or has not the shape above') };

/** Of the routes that check a password. */
export const signInFailures = {
  ...badBody,
  403: failure('Wrong password or unknown account, with one message'),
  429: failure('Too many failed sign-ins; `retry-after` says how many seconds to wait'),
  503: failure('Too many passwords are being checked; `retry-after` says how many seconds to wait'),
};

/** Of the routes that issue tokens. */
export const noTokens = {
  503: failure(
    'Too many passwords are being checked, or the clock of the node is off; `retry-after` says how many seconds to wait',
  ),
};

export const tokenRefused = { 401: failure('The token is unknown, expired, used or revoked') };
