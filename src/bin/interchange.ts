#!/usr/bin/env node
import { runProgram } from '../app/commands.ts';

// Whoever read the output went away, as `head` does: nobody is left to tell.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(1);
  });
process.exitCode = await runProgram(process.argv.slice(2));
