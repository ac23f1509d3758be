/** Sign-in, second factors and passwords. */
export const signIn = {
  title: 'Sign in',
  sessionEnded: 'Your session has ended. Sign in, and you are back on this page.',
  sessionEndedUnsaved:
    'Your session has ended. What you typed is still there, and not saved yet. Sign in to go on with it.',
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  refused: 'The email or the password is wrong, or the account cannot sign in. Check both.',
  notKept:
    'The browser did not keep your sign-in. Open the console at its https address, and allow cookies there.',
  locked:
    'Too many failed sign-ins. Wait {minutes, plural, one {# minute} other {# minutes}}, then sign in again. An administrator can unlock the account before that.',
  forgotten: 'Forgot your password? An administrator of your organisation can give you a new one.',
  forSystems: 'Your system must change its password? <link>Change it here</link>',
  secondFactor: 'Confirm that it is you',
  expires: 'This takes one more step, within five minutes of the password.',
  confirm: 'Confirm',
  ways: {
    totp: 'Use the code of your app',
    passkey: 'Use a passkey',
    'recovery-code': 'Use a recovery code',
  },
  totpText: 'Open your authenticator app, and type the code that it shows for interchange.',
  totpCode: 'Code of six digits',
  passkeyText: 'Your browser asks for your fingerprint, face, PIN or security key.',
  passkeySubmit: 'Continue with a passkey',
  recoveryText: 'Each recovery code is good once. You were given ten when you set up your second factor.',
  recoveryCode: 'Recovery code',
  noCodesLeft:
    'Nothing of this at hand? An administrator can remove your second factor, and you set up a new one.',
  enrol: 'Set up a second factor',
  enrolText: 'Your role asks for a second factor at each sign-in, and your account has none yet. Choose one:',
  changePassword: 'Choose a new password',
  changePasswordText: 'An administrator set your password. Change it before you go on.',
  oldPassword: 'Password until now',
  newPassword: 'New password',
  changePasswordSubmit: 'Change the password',
} as const;

export const secondFactor = {
  app: 'Authenticator app',
  appText: 'An app on your telephone shows a new code every half minute.',
  passkey: 'Passkey',
  passkeyText: 'Your device confirms it is you: fingerprint, face, PIN, or a security key. Nothing to type.',
  password: 'Your password, once more',
  passwordText: 'So that nobody else changes your second factors while you are away.',
  next: 'Continue',
  scan: 'Scan this with the app',
  qr: 'QR code for the authenticator app',
  orType: 'Or type this key into it',
  secret: 'Key for the app',
  code: 'The code that the app then shows',
  confirm: 'Confirm the app',
  passkeyName: 'Name of the passkey',
  passkeyNameText: 'So that you recognise it later, for example: laptop, blue security key.',
  passkeyCreate: 'Create the passkey',
  passkeyStopped:
    'The browser stopped: it was cancelled, took too long, or this device has the passkey already.',
  passkeyElsewhere:
    'Passkeys of this service work at {host} only, and this page is at {here}. Open the console at {address}',
  passkeyUnsupported: 'This browser has no passkeys. Use another browser or another kind of second factor.',
  recovery: 'Keep your recovery codes',
  recoveryText:
    'Each one signs you in once, when your second factor is lost. They are shown only now: keep them where others cannot read them.',
  recoveryCodes: 'Recovery codes',
  download: 'Download as a file',
  copyAll: 'Copy all codes',
  kept: 'I have kept them',
} as const;

export const passwordStrength = {
  rule: 'At least 12 characters. Several words make a good one.',
  typed: '{left, plural, one {One more character.} other {# more characters.}}',
  short: 'The password must have at least 12 characters.',
  long: 'The password must have at most 1024 characters.',
  email: 'The password must not be the email address.',
  common: 'The password is one of the most common ones. Choose another, for example several words.',
  same: 'The new password must differ from the old one.',
  accepted: 'Accepted. A longer one is better.',
  good: 'Good: long, and not a common one.',
} as const;

export const changePassword = {
  title: 'Change a password',
  text: 'For the account of a system or of a person. Every session of it ends: systems sign in again with the new password.',
  email: 'Email of the account',
  userType: 'The account belongs to',
  userTypes: { EHR: 'a system (integration account)', STAFF: 'a person' },
  password: 'Password until now',
  newPassword: 'New password',
  submit: 'Change the password',
  refused:
    'The email, the password until now or the kind of account is wrong, or the account cannot sign in. Check all three.',
  done: 'The password is changed',
  doneText: 'Every session of the account has ended. Sign in with the new password from now on.',
  toSignIn: 'To the sign-in of the console',
} as const;

export const setPassword = {
  title: 'Set your password',
  password: 'New password',
  repeated: 'The same once more',
  show: 'Show what I type',
  submit: 'Set the password',
  incomplete: 'This address is not complete. Open the whole link that you were given.',
  differ: 'The two passwords differ.',
  done: 'The password is set',
  doneText: 'Sign in with it from now on. You can close this page.',
} as const;
