/** How messages about a setting of a connection begin, where not with its name. */
export const ABOUT_CONNECTION = {
  name: ['The name ', 'Le nom '],
  address: [
    'The address ',
    'An address ',
    'Only addresses ',
    'L’adresse ',
    'Une adresse ',
    'Seules les adresses ',
  ],
  clientId: ['The client id ', 'L’identifiant de client '],
  callbackHeader: ['The callback header ', 'The header ', 'L’en-tête '],
  identifierSystem: ['The identifier system ', 'Le système des identifiants '],
  maxInFlight: ['The requests in flight ', 'Les requêtes simultanées '],
  timeoutMs: ['The time-out ', 'Le délai d’attente '],
};
