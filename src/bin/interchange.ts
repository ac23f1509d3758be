#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Longer than connections take to end by themselves. */
const LEFT_OPEN_MS = 1_000;

// Compiling a thousand modules is half of what a command takes. Where the folder cannot be written, it is done each time.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)));
const { runProgram } = await import('../app/commands.ts');

// Whoever read the output went away, as `head` does: nobody is left to tell.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && stream === process.stdout)
      process.stderr.write(
        `error: The output cannot be written (${error.code}). The command may have done its work: look before you run it again.\n`,
      );
    process.exit(1);
  });
process.exitCode = await runProgram(process.argv.slice(2));
// A database that hangs keeps connections open that nobody needs any more.
process.stdout.write('', () => setTimeout(() => process.exit(), LEFT_OPEN_MS).unref());
