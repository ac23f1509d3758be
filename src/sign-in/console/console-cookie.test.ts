import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConsoleCookie } from './console-cookie.ts';

test('over https the cookie is bound to the host, and elsewhere to the console [SIGN-IN-51]', () => {
  const secure = createConsoleCookie('https://records.example.org/prefix/api/v1');
  assert.equal(
    secure.set('abc'),
    '__Host-interchange-session=abc; Path=/; HttpOnly; SameSite=Strict; Secure',
  );
  const plain = createConsoleCookie('http://localhost:3000/api/v1');
  assert.equal(plain.set('abc'), 'interchange-session=abc; Path=/console/; HttpOnly; SameSite=Strict');
  assert.equal(plain.clear(), 'interchange-session=; Path=/console/; HttpOnly; SameSite=Strict; Max-Age=0');
  assert.match(createConsoleCookie('http://localhost:3000/a/api/v1').set('x'), /Path=\/a\/console\/;/);
});

test('the cookie is found among others, and not taken where there are two of it', () => {
  const { read } = createConsoleCookie('https://records.example.org/api/v1');
  const name = '__Host-interchange-session';
  assert.equal(read({ cookie: `a=1; ${name}=xyz;b=2` }), 'xyz');
  assert.equal(read({ cookie: `${name}=one; ${name}=two` }), undefined);
  assert.equal(read({ cookie: `${name}=xyz=` }), 'xyz=', 'the whole value, not a part of it');
  assert.equal(
    read({ cookie: `interchange-session=xyz; ${name}-2=x; __host-interchange-session=x` }),
    undefined,
  );
  assert.equal(read({}), undefined);
});
