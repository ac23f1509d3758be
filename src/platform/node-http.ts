/**
 * node:http. An `import` of it asks for every name that it exports. One of them is WebSocket, for which Node.js loads its
 * whole client for `fetch`: more processor time than Node.js itself takes to start.
 */
export const http = process.getBuiltinModule('node:http');
