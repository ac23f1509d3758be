/** The words of the pages about connections to exchanges, and about their callbacks. */

// What comes after "It can be reached, but", by the status that the exchange answered.
const WRONG_PATH =
  'has nothing at this path. Most likely the path of the address is wrong: check it first. If it is right, ask the operator of the exchange.';
const PAUSE = 'asks for a pause. Test it again in a minute.';
const EVENT_NOT_TAKEN = 'does not take the event connection.test. It may take deliveries all the same.';

export const exchangeConnections = {
  title: 'Exchange connections',
  text: 'Where changes of patients of this facility are sent.',
  list: 'Connections',
  create: 'Connect to an exchange',
  empty: 'This facility has no connection',
  emptyText:
    'A connection sends every change of a patient of this facility to one health information exchange. Ask the exchange for its address and for your client id.',
  name: 'Name',
  nameHelp: 'How you call the exchange here.',
  address: 'Address',
  addressHelp: 'Where messages are posted. It begins with https://.',
  clientId: 'Client id',
  clientIdHelp: 'How the exchange knows you. The exchange gives it to you.',
  facilities: 'Facilities',
  facilitiesHelp: 'Changes of their patients are sent.',
  facilitiesEditHelp:
    'Changes of their patients are sent. What still waits for a facility that you take out is then held, for you to decide.',
  allFacilities: 'All of the organisation',
  state: 'State',
  states: { up: 'Enabled', down: 'Deliveries fail', disabled: 'Disabled' },
  held: '{count, number} held',
  downSince:
    'Since {since} the exchange does not answer, or answers each message with a failure such as 401 or 503. One message at a time is tried until that ends.{may, select, true { Send a test to see what it answers.} other {}}',
  secretWaits: 'New secret waits',
  created: 'Created',
  createSubmit: 'Connect',
  keepTitle: 'Give these to the exchange',
  keepText:
    'The exchange checks our messages with the outbound secret, and signs its callbacks with the callback secret. Send both, and the callback address, in a safe way. Patients who are there already are delivered at their next change; the operator can deliver all of them now.',
  rotatedText:
    'Give the new secrets to the exchange. Callbacks with the old secret are still accepted for the time you chose.',
  rotatedWaits:
    'Messages are signed with the old secret until you activate the new one on this page: do that when the exchange has it.',
  rotatedDiscarded: 'An earlier new secret that waited was thrown away. It was never used.',
  outboundSecret: 'Outbound secret',
  callbackSecret: 'Callback secret',
  callbackUrl: 'Callback address',
  back: 'All connections',
  forExchange: 'What the exchange knows',
  forExchangeText:
    'The secrets are shown once, when they are made. {may, select, true {Rotate them if they were lost.} other {If they were lost, ask somebody who may change this connection to rotate them.}}',
  callbackHeader: 'Header of the signature',
  callbackHeaderHelp: 'The header in which the exchange signs its callbacks.',
  identifierSystem: 'System of assigned ids',
  identifierSystemHelp: 'A URI. Ids that the exchange gives to patients are kept under it.',
  settings: 'Settings',
  edit: 'Edit',
  purpose: 'Purpose of use',
  purposeHelp: 'Patients who refuse this purpose are not sent.',
  maxInFlight: 'Requests at a time',
  timeout: 'Time-out',
  timeoutMs: 'Time-out in milliseconds',
  timeoutValue: '{ms, number} ms',
  save: 'Save',
  saved: 'The connection is saved.',
  savedElsewhere:
    'The connection is saved. It does not cover {facility} any more. To see it, choose one of its facilities at the top.',
  coversAll:
    'It covers every facility of the organisation. Only people who may use all of them can change or test it.',
  coversOthers:
    'This connection also covers facilities that you may not use, so you cannot change or test it. Ask somebody who may use all of them, or the operator.',
  secrets: 'Secrets',
  secretsText: 'Never shown again after they were made.',
  directions: { outbound: 'Outbound', callback: 'Callback' },
  secretStates: {
    waiting: 'Waits for activation',
    planned: 'Begins later',
    active: 'In use',
    ending: 'Good until',
    ended: 'Ended',
  },
  made: 'Made',
  lastUsed: 'Last used',
  never: 'Not yet',
  deliveries: 'Show its deliveries',
  lastTries: 'See what came back in the last tries.',
  resync: 'Patients not delivered yet',
  resyncText:
    'Patients who were there before the connection, or changed while it was disabled, are delivered at their next change. To have them delivered now, ask the operator to run this command.',
  command: 'Command',
  rotate: 'Rotate secrets',
  rotateText:
    'Makes new secrets. Messages are signed with the old one until you activate the new one, so that nothing is lost meanwhile.',
  rotateWhich: 'Which',
  rotateBoth: 'Both secrets',
  rotateOutbound: 'Outbound only: signs our messages',
  rotateCallback: 'Callback only: signs what the exchange sends back',
  overlap: 'Hours in which old callback signatures are still accepted',
  overlapHelp: '0: both old secrets end at once. Choose that when a secret became known to others.',
  rotateSubmit: 'Make new secrets',
  activate: 'Activate the new secret',
  activateTitle: 'Sign with the new secret from now on?',
  activateText: 'Do this when the exchange has the new secret. The old one is not used any more.',
  activateAction: 'Activate',
  activated: 'Messages are signed with the new secret from now on.',
  enable: 'Enable',
  enabled: 'The connection is enabled.',
  disable: 'Disable',
  disableTitle: 'Disable {name}?',
  disableText:
    'Nothing is sent while it is disabled. Changes of patients meanwhile are not queued, and callbacks of the exchange are refused.',
  disabled: 'The connection is disabled.',
  test: 'Send a test',
  testTitle: 'Test of {name}',
  testText: 'One signed message without data of a patient. Deliveries are not touched.',
  testSending: 'Waiting for the exchange',
  testResult: 'Result',
  testTaken: 'Taken',
  testNotTaken: 'Not taken',
  testAnswer: 'Answer',
  testNoAnswer: 'None',
  testTime: 'Time',
  testMessage: 'What it means',
  testResults: {
    taken: 'The exchange took the test request.',
    'not-authorised':
      'The exchange answered {status}. Check the client id, the outbound secret and the clock of the exchange.',
    redirected: 'The exchange answered {status}. Redirects are not followed: correct the address.',
    failing:
      'The exchange answered {status}. {status, select, 501 {It can be reached, but does not take POST requests. Check the address first: it may lead to another server.} other {It does not work as it should. Ask its operator.}}',
    'not-taken': `The exchange answered {status}. It can be reached, but {status, select,
      404 {${WRONG_PATH}} 410 {${WRONG_PATH}}
      405 {${EVENT_NOT_TAKEN} If it does not, check the path of the address.}
      408 {${PAUSE}} 425 {${PAUSE}} 429 {${PAUSE}}
      415 {does not take JSON, which deliveries are sent as. Ask its operator.}
      other {${EVENT_NOT_TAKEN}}}`,
    unanswered: 'The exchange did not answer ({cause}). Ask its operator.',
    unreachable:
      'The exchange could not be reached ({cause}). Check the address, the network and the certificate.',
    'address-refused':
      'The address of the connection is not allowed, so nothing was sent. Correct the address, or ask the operator.',
  },
  testAgain: 'Send again',
  testTooSoon:
    'This connection was tested just now. Wait {seconds, plural, one {# second} other {# seconds}}, then send again.',
} as const;

export const exchangeCallbacks = {
  title: 'Exchange callbacks',
  text: 'What exchanges said about the messages that they received, newest first.',
  list: 'Callbacks',
  empty: 'No exchange has answered yet',
  emptyText:
    'An exchange confirms each message with a callback. Tell it the callback address of the connection.',
  status: 'Answer',
  statuses: { accepted: 'Accepted', rejected: 'Rejected' },
  outcome: 'Result',
  outcomes: { applied: 'Kept', conflict: 'Conflict' },
  conflictHelp:
    'Conflict: the exchange had given the patient another id before. Nothing was changed. Ask the exchange which id is right.',
  assignedId: 'Id at exchange',
  message: 'Message',
  received: 'Received',
  delivery: 'Delivery',
  toDelivery: 'Open the delivery',
} as const;
