// The page of a setup link: sets a first password through POST /auth/password-setup (docs/sign-in.md).
const TIMEOUT_MS = 30_000;

const [heading, message, form] = ['#heading', '#message', 'form'].map((one) => document.querySelector(one));
const [password, repeated, shown] = ['#password', '#repeated', '#shown'].map((one) =>
  document.querySelector(one),
);
const button = form.querySelector('button');

let token = '';
let sending = false;

takeToken();
// Another link, opened in this tab, changes nothing but the fragment.
addEventListener('hashchange', takeToken);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void submit();
});
shown.addEventListener('change', () => {
  for (const input of [password, repeated]) input.type = shown.checked ? 'text' : 'password';
});

/** The token stands in the fragment, which no server sees. It does not stay in the address or the history. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  if (location.hash !== '') history.replaceState(null, '', location.pathname);
  if (given !== '') token = given;
  form.hidden = token === '';
  if (token === '') tell('This address is not complete. Open the whole link that you were given.');
  else {
    tell('');
    password.focus();
  }
}

async function submit() {
  if (sending) return;
  if (password.value !== repeated.value) return refuse('The two passwords differ.', repeated);
  setSending(true);
  try {
    await send();
  } finally {
    setSending(false);
  }
}

async function send() {
  const answer = await post({ token, newCredential: password.value });
  if (answer === undefined) return refuse('The service cannot be reached. Try again in a moment.', button);
  if (answer.ok) return finish();
  refuse(await reasonOf(answer), password);
  // A link that was used or is too old is of no more use.
  if (answer.status === 403) form.hidden = true;
}

function post(body) {
  return fetch('../api/v1/auth/password-setup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
}

/** The service says in each answer what failed and what to do. */
async function reasonOf(answer) {
  const body = await answer.json().catch(() => undefined);
  return typeof body?.message === 'string'
    ? body.message
    : `The service answered ${answer.status}. Try again in a moment.`;
}

function finish() {
  token = '';
  form.reset();
  form.hidden = true;
  heading.textContent = 'The password is set';
  document.title = 'The password is set – interchange';
  message.className = '';
  message.textContent = 'Sign in with it from now on. You can close this page.';
  message.hidden = false;
  heading.focus();
}

function refuse(text, where) {
  tell(text);
  for (const input of [password, repeated]) input.setAttribute('aria-invalid', String(input === where));
  where.focus();
}

function tell(text) {
  message.className = 'fault';
  message.textContent = text;
  message.hidden = text === '';
}

function setSending(now) {
  sending = now;
  button.setAttribute('aria-disabled', String(now));
}
