/** How the console is built: relative addresses, so that it works below any path prefix, and nothing inline. Contract: WEB-11. */
import { defineConfig } from 'vite';

const SERVICE = process.env.INTERCHANGE_ORIGIN ?? 'http://127.0.0.1:3000';

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  base: command === 'serve' ? '/console/' : './',
  logLevel: command === 'serve' ? 'info' : 'warn',
  build: {
    target: 'es2023',
    // The content security policy allows no inline script, and fonts and pictures from files only.
    assetsInlineLimit: 0,
    // Says whose code the files hold, as its licences ask.
    license: { fileName: 'licences.md' },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      onLog(level, log, handle) {
        // A mark for servers that render React, which this one does not.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
  server: { proxy: { '/console/api': SERVICE, '/api/v1': SERVICE } },
}));
